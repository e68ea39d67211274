// progress.txt, the memory of a plan's iterations: the part above its first line "---" is curated, all below it is a
// log that only grows. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ralph {

// What an iteration left of the log, with every entry of `before` in it: `found` itself if it has them all, else those
// of `before` and after them what is new. nullopt: there is no file.
std::string with_log_kept(std::string_view before, const std::optional<std::string>& found);

// Two copies of the log `before` were written to: `now`, and at its end what is new in `found`. The top section of
// `found`, if that of `now` is as it was.
std::string with_log_added(std::string_view now, std::string_view before, const std::string& found);

}  // namespace ralph
