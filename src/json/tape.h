// Reads one line of JSON at a time into memory that is reused for the next.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>

#include "json/value.h"
#include "json/view.h"
#include "json/wanted.h"

namespace ralph {

class JsonTape {
 public:
  static constexpr size_t kMostNodes = 1 << 16;  // per line; no agent's event has more

  JsonTape();

  // Reads the wanted parts of the object in `line`. The fast path for well-formed lines: it returns false for anything
  // unusual (a lone surrogate, invalid UTF-8, an escaped key, a huge number, a syntax error); call read_slowly then. In
  // unwanted parts only quotes and brackets are checked.
  bool read(std::string_view line, const Wanted& wanted);

  // The same for any line, using Boost.JSON, after repair_json. Returns nullptr, or the reason for a failure: "not
  // JSON", ...
  const char* read_slowly(std::string_view line, const Wanted& wanted);

  // Reads a value that was left unread in another line. A value that was already read is returned unchanged.
  JsonView look_into(JsonView value, const Wanted& wanted);

  // The last line read. Its texts point into that line or into this tape and are valid until the next read.
  JsonView root() const { return JsonView(nodes_.get()); }

 private:
  // Each returns the new position, or nullptr. `wanted` is nullptr if everything is wanted. After the opening bracket
  // of node `self`:
  const char* colon_after(const char* at) const;
  const char* read_members(const char* at, const Wanted* wanted, size_t self, int depth);
  const char* read_elements(const char* at, const Wanted* wanted, size_t self, int depth);
  const char* read_value(const char* at, std::string_view key, const Wanted* wanted, int depth);
  const char* read_string(const char* at, JsonNode& node);
  const char* read_number(const char* at, JsonNode& node) const;
  const char* leave_unread(const char* at, bool keep, JsonNode& node) const;

  bool copy(const json::value& value, std::string_view key, const Wanted* wanted);
  std::string_view keep(std::string_view text);
  void make_room(size_t bytes);

  const char* end_ = nullptr;  // of the line
  const Wanted* const later_ = &Wanted::later();
  // Reserved for the maximum; unwritten memory costs nothing.
  struct Free {
    void operator()(JsonNode* memory) const { std::free(memory); }
  };
  JsonNode& add_node() { return *new (nodes_.get() + size_++) JsonNode; }

  std::unique_ptr<JsonNode, Free> nodes_;
  size_t size_ = 0;
  // Texts with escapes resolved. Never longer than the line, so nothing moves while a line is read.
  std::unique_ptr<char[]> texts_;
  size_t texts_size_ = 0;
  size_t texts_capacity_ = 0;
};

// The source text of a member of the outermost object, given only the beginning of a line. Empty if the member is not
// found or not a plain string.
std::string_view outermost_string(std::string_view head, std::string_view key);

}  // namespace ralph
