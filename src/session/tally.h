// A count in a file, for hooks that must not wait for the journal's lock. Each thing has a line of the same length,
// made from its name, so that what two hooks report counts once and the file's size is the count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ralph {

// Counts the thing, unless it is among the last ones counted. Without a name it is always counted.
void add_to_tally(const std::string& path, std::string_view name);

std::int64_t tally_in(const std::string& path);  // 0 if there is no such file

}  // namespace ralph
