#include "json/tape.h"

#include <algorithm>
#include <charconv>

#include "json/scan.h"

namespace ralph {

using json_scan::decode_string;
using json_scan::expect;
using json_scan::find_key_end;
using json_scan::find_plain_end;
using json_scan::skip_blanks;
using json_scan::skip_container;
using json_scan::skip_number;
using json_scan::skip_value;
using json_scan::take_word;

namespace {

constexpr int kDeepest = 64;             // nesting that is kept; the library decides about deeper nesting
constexpr size_t kKeptTexts = 1U << 20;  // bytes for texts that are not freed after each line

}  // namespace

JsonTape::JsonTape() : nodes_(static_cast<JsonNode*>(std::malloc(kMostNodes * sizeof(JsonNode)))) {
  if (!nodes_) throw std::bad_alloc();
}

bool JsonTape::read(std::string_view line, const Wanted& wanted) {
  const char* const begin = line.data();
  end_ = begin + line.size();
  size_ = 0;
  make_room(line.size());
  const char* at = expect(begin, end_, '{');
  if (!at) return false;
  add_node().kind = JsonKind::kObject;
  at = read_members(at, &wanted, 0, 0);
  return at && skip_blanks(at, end_) == end_;
}

JsonView JsonTape::look_into(JsonView value, const Wanted& wanted) {
  const std::string_view text = value.unread();
  if (text.empty()) return value;
  if (!read(text, wanted) && read_slowly(text, wanted)) return {};
  return root();
}

void JsonTape::make_room(size_t bytes) {
  texts_size_ = 0;
  if (bytes <= texts_capacity_ && texts_capacity_ <= std::max(bytes, kKeptTexts)) return;
  texts_capacity_ = std::max<size_t>(bytes, 1U << 16);
  texts_.reset();  // freed first, so that there are never two
  texts_ = std::make_unique_for_overwrite<char[]>(texts_capacity_);
}

// The start of the value after a key.
inline const char* JsonTape::colon_after(const char* at) const {
  if (end_ - at >= 2 && at[0] == ':' && static_cast<unsigned char>(at[1]) > ' ') return at + 1;
  at = expect(at, end_, ':');
  return at ? skip_blanks(at, end_) : nullptr;
}

const char* JsonTape::read_members(const char* at, const Wanted* wanted, size_t self, int depth) {
  at = skip_blanks(at, end_);
  if (at < end_ && *at == '}') return at + 1;
  at = expect(at, end_, '"');
  while (at) {
    const char* const begin = at;
    const char* const quote = find_key_end(begin, end_);
    if (!quote) return nullptr;
    at = colon_after(quote + 1);
    if (!at) return nullptr;
    const std::string_view key(begin, static_cast<size_t>(quote - begin));
    if (!wanted) {
      at = read_value(at, key, nullptr, depth + 1);
    } else if (const WantedKey* const found = wanted->find(key)) {
      const char* const text = at + 1;
      const char* const stop = at < end_ && *at == '"' && size_ < kMostNodes ? find_plain_end(text, end_) : nullptr;
      if (stop) {  // most are plain strings
        JsonNode& node = add_node();
        node.key = key;
        node.kind = JsonKind::kString;
        node.text = {text, static_cast<size_t>(stop - text)};
        at = stop + 1;
      } else {
        at = read_value(at, key, found->inside, depth + 1);
      }
    } else {
      at = skip_value(at, end_);
    }
    if (!at) return nullptr;
    if (end_ - at >= 2 && at[0] == ',' && at[1] == '"') {  // the usual form
      at += 2;
    } else if (const char* const next = expect(at, end_, ',')) {
      at = expect(next, end_, '"');
    } else {
      nodes_.get()[self].span = static_cast<std::uint32_t>(size_ - self);
      return expect(at, end_, '}');
    }
  }
  return nullptr;
}

const char* JsonTape::read_elements(const char* at, const Wanted* wanted, size_t self, int depth) {
  at = skip_blanks(at, end_);
  if (at < end_ && *at == ']') return at + 1;
  for (;;) {
    at = read_value(skip_blanks(at, end_), {}, wanted, depth + 1);
    if (!at) return nullptr;
    if (const char* const next = expect(at, end_, ',')) {
      at = next;
      continue;
    }
    nodes_.get()[self].span = static_cast<std::uint32_t>(size_ - self);
    return expect(at, end_, ']');
  }
}

const char* JsonTape::read_value(const char* at, std::string_view key, const Wanted* wanted, int depth) {
  const size_t self = size_;
  if (at == end_ || depth > kDeepest || self >= kMostNodes) return nullptr;
  JsonNode& node = add_node();
  node.key = key;
  switch (*at) {
    case '"':
      node.kind = JsonKind::kString;
      return read_string(at + 1, node);
    case '{':
      node.kind = JsonKind::kObject;
      if (wanted && wanted->none()) return leave_unread(at, wanted == later_, node);
      return read_members(at + 1, wanted, self, depth);
    case '[':
      node.kind = JsonKind::kArray;
      if (wanted && wanted->none()) return leave_unread(at, wanted == later_, node);
      return read_elements(at + 1, wanted, self, depth);
    case 't':
      node.kind = JsonKind::kBool;
      node.integer = 1;
      return take_word(at, end_, "true");
    case 'f':
      node.kind = JsonKind::kBool;
      return take_word(at, end_, "false");
    case 'n':
      return take_word(at, end_, "null");
    default:
      return read_number(at, node);
  }
}

const char* JsonTape::leave_unread(const char* at, bool keep, JsonNode& node) const {
  const char* const stop = skip_container(at, end_);
  if (!stop || !keep) return stop;
  node.kind = JsonKind::kUnread;
  node.text = {at, static_cast<size_t>(stop - at)};
  return stop;
}

const char* JsonTape::read_string(const char* at, JsonNode& node) {
  if (const char* const quote = find_plain_end(at, end_)) {
    node.text = {at, static_cast<size_t>(quote - at)};
    return quote + 1;
  }
  char* const begin = texts_.get() + texts_size_;
  char* out = begin;
  at = decode_string(at, end_, out);
  if (!at) return nullptr;
  node.text = {begin, static_cast<size_t>(out - begin)};
  texts_size_ += node.text.size();
  return at;
}

const char* JsonTape::read_number(const char* at, JsonNode& node) const {
  // Nearly all numbers are counts of a few digits.
  constexpr std::ptrdiff_t kSurelyFits = 18;
  const char* p = at;
  for (; p < end_ && *p >= '0' && *p <= '9'; ++p)
    node.integer =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(node.integer) * 10 + static_cast<std::uint64_t>(*p - '0'));
  const bool whole = p == end_ || (*p != '.' && *p != 'e' && *p != 'E');
  if (p != at && p - at <= kSurelyFits && whole && (*at != '0' || p - at == 1)) {
    node.kind = JsonKind::kInteger;
    return p;
  }
  const char* const stop = skip_number(at, end_);
  if (!stop) return nullptr;
  std::from_chars_result result{};
  if (std::string_view(at, static_cast<size_t>(stop - at)).find_first_of(".eE") == std::string_view::npos) {
    node.kind = JsonKind::kInteger;
    result = std::from_chars(at, stop, node.integer);
  } else {
    node.kind = JsonKind::kReal;
    result = std::from_chars(at, stop, node.real);
  }
  return result.ec == std::errc() && result.ptr == stop ? stop : nullptr;
}

std::string_view outermost_string(std::string_view head, std::string_view key) {
  const char* at = head.data();
  const char* const end = at + head.size();
  at = expect(at, end, '{');
  while (at) {
    const char* const begin = expect(at, end, '"');
    const char* const quote = begin ? find_plain_end(begin, end) : nullptr;
    at = quote ? expect(quote + 1, end, ':') : nullptr;
    if (!at) break;
    at = skip_blanks(at, end);
    if (std::string_view(begin, static_cast<size_t>(quote - begin)) == key) {
      const char* const text = expect(at, end, '"');
      const char* const stop = text ? find_plain_end(text, end) : nullptr;
      return stop ? std::string_view(text, static_cast<size_t>(stop - text)) : std::string_view();
    }
    at = skip_value(at, end);
    if (at) at = expect(at, end, ',');
  }
  return {};
}

std::int64_t JsonView::integer() const {
  if (is(JsonKind::kInteger)) return node_->integer;
  if (!is(JsonKind::kReal)) return 0;
  constexpr double kMost = 9e18;
  return static_cast<std::int64_t>(std::clamp(node_->real, -kMost, kMost));
}

double JsonView::real() const {
  if (is(JsonKind::kReal)) return node_->real;
  return is(JsonKind::kInteger) ? static_cast<double>(node_->integer) : 0;
}

}  // namespace ralph
