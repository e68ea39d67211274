// A count in a file, for hooks that must not wait for the journal's lock. Each counted item is a line of fixed length,
// made from its name. So an item that two hooks report counts once, and the file's size gives the count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ralph {

// Counts an item unless it is among the last ones counted. An item without a name is always counted.
void add_to_tally(const std::string& path, std::string_view name);

std::int64_t tally_in(const std::string& path);  // 0 if there is no such file

}  // namespace ralph
