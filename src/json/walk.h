// Walks JSON text and reports the position of every value. The JSON library builds values but forgets their positions,
// which errors (line and column) and edits in place need.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ralph {

// Deeper nesting is rejected: no real document comes near it, and reading and freeing values recurse.
inline constexpr size_t kMaxJsonDepth = 200;

struct JsonFault {
  size_t offset = 0;
  std::string message;  // "expected ',' or '}'"
};

struct JsonPlace {
  std::string_view pointer;   // "/agent/flags/2"; empty for the whole document; valid during the call only
  std::optional<size_t> key;  // offset of its key, if it has one
  size_t value = 0;           // offset of the value
  size_t depth = 0;           // how many values enclose it
};

// Calls `visit` (if any) for every value before those inside it, and `leave` (if any) after them, with the offset past
// the value. Returns the first fault: anything that RFC 8259 forbids, or a duplicate key. A byte order mark at the
// front is skipped.
std::optional<JsonFault> scan_json(std::string_view text, const std::function<void(const JsonPlace&)>& visit = {},
                                   const std::function<void(size_t end)>& leave = {});

// A key as a part of a pointer ("a/b" is "a~1b"), and back.
std::string to_pointer_part(std::string_view key);
std::string from_pointer_part(std::string_view part);

}  // namespace ralph
