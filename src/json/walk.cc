#include "json/walk.h"

#include <algorithm>
#include <forward_list>
#include <tuple>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "json/scan.h"
#include "json/value.h"

namespace ralph {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '$';
}

// A recursive walk. The first fault ends it: every step returns false once `fault_` is set.
class Scanner {
 public:
  Scanner(std::string_view text, const std::function<void(const JsonPlace&)>& visit,
          const std::function<void(size_t)>& leave)
      : text_(text), visit_(visit), leave_(leave) {}

  std::optional<JsonFault> scan() {
    if (text_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    if (const size_t bad = find_invalid_utf8(text_); bad != std::string_view::npos) {
      wrong(bad, fmt::format("byte 0x{:02x} is not valid UTF-8; save the file as UTF-8",
                             static_cast<unsigned char>(text_[bad])));
      return fault_;
    }
    skip_blank();
    if (!fault_ && at_ == text_.size()) wrong(at_, "expected a JSON value, but there is nothing here");
    if (!fault_ && value(std::nullopt, 0)) {
      skip_blank();
      if (!fault_ && at_ < text_.size()) wrong(at_, "expected the end of the document, found " + shown());
    }
    return fault_;
  }

 private:
  struct Key {
    std::string_view name;  // in the text, or in `decoded_` if it has escapes
    size_t offset;
  };

  bool wrong(size_t offset, std::string message) {
    if (!fault_) fault_ = JsonFault{offset, std::move(message)};
    return false;
  }

  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

  void skip_blank() {
    const char* const end = text_.data() + text_.size();
    at_ = static_cast<size_t>(json_scan::skip_blanks(text_.data() + at_, end) - text_.data());
    if (at_ == text_.size() || (text_[at_] != '#' && text_[at_] != '/')) return;
    if (next_is('#') || text_.substr(at_).starts_with("//") || text_.substr(at_).starts_with("/*"))
      wrong(at_, "JSON has no comments; remove this one");
  }

  // The text at the current position, for messages.
  std::string shown() const {
    if (at_ >= text_.size()) return "the end of the document";
    size_t end = at_;
    while (end < text_.size() && end - at_ < 20 && is_word(text_[end])) ++end;
    if (end > at_) return std::string(text_.substr(at_, end - at_));
    const std::string_view character = prefix_of_characters(text_.substr(at_), 1);
    if (static_cast<unsigned char>(character[0]) < 0x20 || character[0] == 0x7f)
      return fmt::format("the control character 0x{:02x}", static_cast<unsigned>(character[0]));
    return fmt::format("'{}'", character);
  }

  bool value(std::optional<size_t> key, size_t depth) {
    if (visit_) visit_(JsonPlace{pointer_, key, at_, depth});
    if (!content(depth)) return false;
    if (leave_) leave_(at_);
    return true;
  }

  bool content(size_t depth) {
    if (at_ >= text_.size()) return wrong(at_, "expected a value, found the end of the document");
    const char c = text_[at_];
    if (c == '{' || c == '[') {
      if (depth >= kMaxJsonDepth) return wrong(at_, fmt::format("nested deeper than {} levels", kMaxJsonDepth));
      return c == '{' ? object(depth) : array(depth);
    }
    if (c == '"') return string(nullptr);
    if (c == '-' || is_digit(c)) return number();
    if (c == '\'') return wrong(at_, "strings need double quotes (\"), not single ones");
    return word();
  }

  bool word() {
    const size_t start = at_;
    const std::string found = shown();
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    const std::string_view whole = text_.substr(start, at_ - start);
    for (std::string_view known : {"true", "false", "null"}) {
      if (whole == known) return true;
      if (equals_ignoring_case(whole, known)) return wrong(start, fmt::format("write {} as {}", whole, known));
    }
    if (whole.empty()) return wrong(start, "expected a value, found " + found);
    return wrong(start, fmt::format("expected a value, found {}; a string needs double quotes", found));
  }

  bool number() {
    const size_t start = at_;
    const auto digits = [this] {
      const size_t from = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return at_ > from;
    };
    if (next_is('-')) ++at_;
    const size_t first = at_;
    bool good = digits() && (text_[first] != '0' || at_ == first + 1);
    if (good && next_is('.')) {
      ++at_;
      good = digits();
    }
    if (good && (next_is('e') || next_is('E'))) {
      ++at_;
      if (next_is('+') || next_is('-')) ++at_;
      good = digits();
    }
    while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) good = false, ++at_;
    if (good) return true;
    return wrong(start,
                 fmt::format("{} is not a JSON number", prefix_of_characters(text_.substr(start, at_ - start), 40)));
  }

  // Negative if there are not four hexadecimal digits.
  int hex4(size_t from) const { return from + 4 > text_.size() ? -1 : json_scan::hex4(&text_[from]); }

  bool escape(std::string* decoded) {
    const size_t start = at_++;
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c != 'u') {
      const size_t which = std::string_view("\"\\/bfnrt").find(c);
      if (which == std::string_view::npos) return wrong(start, "unknown escape in a string; write a backslash as \\\\");
      if (decoded) *decoded += "\"\\/\b\f\n\r\t"[which];
      ++at_;
      return true;
    }
    const int unit = hex4(at_ + 1);
    if (unit < 0) return wrong(start, "expected four hexadecimal digits after \\u");
    at_ += 5;
    auto code = static_cast<unsigned>(unit);
    if (unit >= 0xD800 && unit < 0xE000) {
      const bool pair = unit < 0xDC00 && text_.substr(at_).starts_with("\\u");
      const int low = pair ? hex4(at_ + 2) : -1;
      if (low < 0xDC00 || low >= 0xE000) return wrong(start, "half of a surrogate pair; it is no character by itself");
      code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<unsigned>(low) - 0xDC00);
      at_ += 6;
    }
    if (decoded) append_utf8(*decoded, code);
    return true;
  }

  // `name`, if not null, gets the string's characters.
  bool string(std::string_view* name) {
    const size_t start = at_++;
    at_ = end_of_plain(at_);
    if (name && next_is('"')) *name = text_.substr(start + 1, at_ - start - 1);
    std::string* decoded =
        name && !next_is('"') ? &decoded_.emplace_front(text_.substr(start + 1, at_ - start - 1)) : nullptr;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        if (decoded) *name = *decoded;
        return true;
      }
      if (c == '\\') {
        if (!escape(decoded)) return false;
        continue;
      }
      if (c == '\n' || c == '\r') return wrong(start, "this string has no closing quote on its line");
      if (static_cast<unsigned char>(c) < 0x20)
        return wrong(at_,
                     fmt::format("the control character 0x{:02x} in a string must be escaped", static_cast<int>(c)));
      const size_t plain = at_;
      at_ = end_of_plain(at_);
      if (decoded) decoded->append(text_, plain, at_ - plain);
    }
    return wrong(start, "this string has no closing quote");
  }

  // The next character that needs handling inside a string.
  size_t end_of_plain(size_t at) const {
    const char* const end = text_.data() + text_.size();
    const char* here = json_scan::find_special(text_.data() + at, end);
    while (here < end && static_cast<signed char>(*here) < 0) here = json_scan::find_special(here + 1, end);
    return static_cast<size_t>(here - text_.data());
  }

  // After an element: true if another one follows, false at the end or at a fault.
  bool more(char closing, size_t opened) {
    skip_blank();
    if (fault_) return false;
    if (next_is(closing)) return false;
    if (!next_is(',')) {
      std::string opening;
      if (at_ >= text_.size())
        opening = fmt::format(" for the '{}' of line {}", text_[opened], position_of(text_, opened).line);
      return wrong(at_, fmt::format("expected ',' or '{}'{}, found {}", closing, opening, shown()));
    }
    const size_t comma = at_++;
    skip_blank();
    if (next_is(closing))
      return wrong(comma, fmt::format("remove this comma: nothing follows it before '{}'", closing));
    return !fault_;
  }

  bool array(size_t depth) {
    const size_t opened = at_++;
    skip_blank();
    if (!next_is(']')) {
      size_t index = 0;
      do {
        const size_t parent = pointer_.size();
        if (visit_) pointer_ += fmt::format("/{}", index++);
        if (fault_ || !value(std::nullopt, depth + 1)) return false;
        pointer_.resize(parent);
      } while (more(']', opened));
    }
    ++at_;
    return !fault_;
  }

  bool object(size_t depth) {
    const size_t opened = at_++;
    std::vector<Key> keys;
    skip_blank();
    if (!next_is('}')) {
      do {
        if (fault_ || !member(keys, depth, opened)) return false;
      } while (more('}', opened));
    }
    ++at_;
    return !fault_ && all_differ(keys);
  }

  bool member(std::vector<Key>& keys, size_t depth, size_t opened) {
    if (!next_is('"')) {
      if (at_ >= text_.size())
        return wrong(at_, fmt::format("expected a key or '}}' for the '{{' of line {}, found the end of the document",
                                      position_of(text_, opened).line));
      return wrong(at_, fmt::format("expected a key in double quotes, found {}", shown()));
    }
    Key key{{}, at_};
    if (!string(&key.name)) return false;
    skip_blank();
    if (fault_) return false;
    if (!next_is(':')) return wrong(at_, fmt::format("expected ':' after the key, found {}", shown()));
    ++at_;
    skip_blank();
    const size_t parent = pointer_.size();
    if (visit_) pointer_.append(1, '/').append(to_pointer_part(key.name));
    if (fault_ || !value(key.offset, depth + 1)) return false;
    pointer_.resize(parent);
    keys.push_back(key);
    return true;
  }

  bool all_differ(std::vector<Key>& keys) {
    if (keys.size() < 2) return true;
    std::sort(keys.begin(), keys.end(),
              [](const Key& a, const Key& b) { return std::tie(a.name, a.offset) < std::tie(b.name, b.offset); });
    const auto twice =
        std::adjacent_find(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.name == b.name; });
    if (twice == keys.end()) return true;
    return wrong(twice[1].offset, fmt::format("the key \"{}\" stands here a second time; the first is in line {}",
                                              fit_to_width(twice->name, 60), position_of(text_, twice->offset).line));
  }

  std::string_view text_;
  const std::function<void(const JsonPlace&)>& visit_;
  const std::function<void(size_t)>& leave_;
  size_t at_ = 0;
  std::forward_list<std::string> decoded_;  // keys with escapes
  std::string pointer_;
  std::optional<JsonFault> fault_;
};

}  // namespace

std::optional<JsonFault> scan_json(std::string_view text, const std::function<void(const JsonPlace&)>& visit,
                                   const std::function<void(size_t)>& leave) {
  return Scanner(text, visit, leave).scan();
}

std::string to_pointer_part(std::string_view key) {
  return replace_all(replace_all(key, "~", "~0"), "/", "~1");
}

std::string from_pointer_part(std::string_view part) {
  return replace_all(replace_all(part, "~1", "/"), "~0", "~");
}

}  // namespace ralph
