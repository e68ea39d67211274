// One line of JSON at a time, read into memory that is used again for the next.
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
  static constexpr size_t kMostNodes = 1 << 16;  // of a line, kept; more is no event of any agent

  JsonTape();

  // Reads what is wanted of the object in `line`: the fast way for lines in good order, and no judge of JSON. Whatever
  // is not plain (a lone surrogate, invalid UTF-8, an escaped key, a huge number, a syntax error) it declines by false,
  // and the library decides: read_slowly. What is not wanted is checked for its quotes and brackets only.
  bool read(std::string_view line, const Wanted& wanted);

  // The same of any line, by Boost.JSON, after a repair of what agents are known to print: lone surrogates, invalid
  // UTF-8, raw control characters, numbers beyond all bounds. The reason if that is not possible either: "not JSON",
  // ... nullptr if all is well.
  const char* read_slowly(std::string_view line, const Wanted& wanted);

  // What is in a value of another line that was left unread there. A value that was read is returned as it is.
  JsonView look_into(JsonView value, const Wanted& wanted);

  // What was read last. Its texts are in the line given, or here, until the next is read.
  JsonView root() const { return JsonView(nodes_.get()); }

 private:
  // Each returns where it has come to, or nullptr. `wanted` is nullptr if everything is. What follows the opening
  // bracket of node `self`:
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
  // Reserved for the most that there may be; memory that was not written to is not used.
  struct Free {
    void operator()(JsonNode* memory) const { std::free(memory); }
  };
  JsonNode& add_node() { return *new (nodes_.get() + size_++) JsonNode; }

  std::unique_ptr<JsonNode, Free> nodes_;
  size_t size_ = 0;
  // Texts whose escapes were resolved. Never more bytes than the line has, so that nothing moves while a line is read.
  std::unique_ptr<char[]> texts_;
  size_t texts_size_ = 0;
  size_t texts_capacity_ = 0;
};

// The text of a member of the outermost object, as it stands there, as far as can be seen in the beginning of a line.
// Empty if it is not seen or is no plain string.
std::string_view outermost_string(std::string_view head, std::string_view key);

}  // namespace ralph
