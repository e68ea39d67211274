// Walks JSON text and says where everything stands. The JSON library builds values but forgets their places; people
// need them: an error names a line, and an editor of a person's file changes one value and leaves the rest alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace ralph {

// Deeper nesting is refused: nothing that people write comes near it, and reading and freeing values recurse.
inline constexpr size_t kMaxJsonDepth = 200;

struct JsonFault {
  size_t offset = 0;    // the byte where it is
  std::string message;  // "expected ',' or '}'"
};

struct JsonPlace {
  std::string_view pointer;   // "/agent/flags/2"; empty for the whole document; valid during the call only
  std::optional<size_t> key;  // where its key begins, if it has one
  size_t value = 0;           // where the value begins
  size_t depth = 0;           // how many values it is inside of
};

// Calls `visit` (if any) for every value before those inside it, and `leave` (if any) after them, with the offset
// behind the value. Returns the first fault: all that RFC 8259 forbids, plus duplicate keys. A byte order mark at the
// front is skipped.
std::optional<JsonFault> scan_json(std::string_view text, const std::function<void(const JsonPlace&)>& visit = {},
                                   const std::function<void(size_t end)>& leave = {});

// A key as a part of a pointer ("a/b" is "a~1b"), and back.
std::string to_pointer_part(std::string_view key);
std::string from_pointer_part(std::string_view part);

}  // namespace ralph
