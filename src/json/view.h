// Lookups in a line of JSON that was read. A lookup never fails: a value that is missing or of another kind reads as
// empty, so parsers of agents' streams need no error handling.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace ralph {

// Keys are short and mostly differ in length; calling memcmp for each would cost more than the rest of a lookup.
inline bool same_key(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto differ = [&]<class Word>(Word, size_t at) {
    Word x;
    Word y;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    return x != y;
  };
  const size_t n = a.size();
  if (n > 16) return std::memcmp(a.data(), b.data(), n) == 0;
  if (n >= 8) return !differ(std::uint64_t{}, 0) && !differ(std::uint64_t{}, n - 8);
  if (n >= 4) return !differ(std::uint32_t{}, 0) && !differ(std::uint32_t{}, n - 4);
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

enum class JsonKind : std::uint8_t {
  kNull,
  kBool,
  kInteger,
  kReal,
  kString,
  kObject,
  kArray,
  kUnread,  // a container as source text: Wanted::later()
};

// One value. A container is followed by its contents.
struct JsonNode {
  std::string_view key;   // if it is a member of an object
  std::string_view text;  // kString, kUnread
  union {
    std::int64_t integer = 0;  // kInteger, and kBool as 0 or 1
    double real;               // kReal
  };
  std::uint32_t span = 1;  // number of nodes, including its contents
  JsonKind kind = JsonKind::kNull;
};

// A value, or nothing. Cheap to copy; valid as long as the line it was read from.
class JsonView {
 public:
  JsonView() = default;
  explicit JsonView(const JsonNode* node) : node_(node) {}

  explicit operator bool() const { return node_ != nullptr; }
  bool is(JsonKind kind) const { return node_ && node_->kind == kind; }

  // The first member of that name in an object.
  JsonView operator[](std::string_view key) const {
    if (is(JsonKind::kObject)) {
      for (const JsonNode* n = node_ + 1; n < node_ + node_->span; n += n->span) {
        if (same_key(n->key, key)) return JsonView(n);
      }
    }
    return {};
  }

  std::string_view key() const { return node_ ? node_->key : std::string_view(); }
  std::string_view text() const { return is(JsonKind::kString) ? node_->text : std::string_view(); }
  std::string_view unread() const { return is(JsonKind::kUnread) ? node_->text : std::string_view(); }
  bool truth() const { return is(JsonKind::kBool) && node_->integer != 0; }
  std::int64_t integer() const;  // 0 if not a number; reals are truncated and clamped
  double real() const;           // 0 if not a number

  // The elements of an array, or the members of an object.
  class Iterator {
   public:
    explicit Iterator(const JsonNode* node) : node_(node) {}
    JsonView operator*() const { return JsonView(node_); }
    Iterator& operator++() {
      node_ += node_->span;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const JsonNode* node_;
  };
  Iterator begin() const { return Iterator(node_ ? node_ + 1 : nullptr); }
  Iterator end() const { return Iterator(node_ ? node_ + node_->span : nullptr); }

 private:
  const JsonNode* node_ = nullptr;
};

}  // namespace ralph
