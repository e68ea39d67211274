// progress.txt, the memory of a plan's iterations: the part above the first "---" line may be edited, the rest is an
// append-only log. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ralph {

// The log that an iteration left, with lost entries restored: `found` itself if it has every entry of `before`, else
// the entries of `before` followed by the new ones. `found` is nullopt if the file does not exist.
std::string with_log_kept(std::string_view before, const std::optional<std::string>& found);

// Merges two copies that both started as `before`: `now`, with the new entries of `found` appended. Takes the top
// section of `found` unless that of `now` has changed.
std::string with_log_added(std::string_view now, std::string_view before, const std::string& found);

}  // namespace ralph
