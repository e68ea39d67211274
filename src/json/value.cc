#include "json/value.h"

#include <algorithm>
#include <cmath>

#include <boost/json/parser.hpp>

#include "base/utf8.h"
#include "json/walk.h"
#include "json/writer.h"

namespace ralph {
namespace {

// Prints pretty, or all on one line.
class Printer {
 public:
  explicit Printer(bool pretty) : pretty_(pretty) {}

  std::string_view print(const json::value& value, size_t indent = 0) {
    if (const json::object* object = value.if_object()) {
      print_all(*object, "{", "}", indent, [&](const json::key_value_pair& member) {
        append_json_string(out_, member.key());
        out_.append(pretty_ ? ": " : ":");
        print(member.value(), indent + 2);
      });
    } else if (const json::array* array = value.if_array()) {
      print_all(*array, "[", "]", indent, [&](const json::value& item) { print(item, indent + 2); });
    } else if (const json::string* text = value.if_string()) {
      append_json_string(out_, *text);
    } else if (pretty_ && value.is_double()) {
      // The library writes 2 as 2E0; people write 2. JSON has no infinity.
      out_.append(std::isfinite(value.get_double()) ? fmt::format("{}", value.get_double()) : "null");
    } else {
      out_.append(json::serialize(value));
    }
    return out_.bytes();
  }

 private:
  // Shared by objects and arrays: an empty one has nothing between its brackets.
  template <class Container, class Each>
  void print_all(const Container& container, std::string_view open, std::string_view close, size_t indent, Each each) {
    out_.append(open);
    bool first = true;
    for (const auto& element : container) {
      if (!first) out_.append(",");
      if (pretty_) out_.append("\n" + std::string(indent + 2, ' '));
      each(element);
      first = false;
    }
    if (pretty_ && !first) out_.append("\n" + std::string(indent, ' '));
    out_.append(close);
  }

  ByteBuffer out_;
  bool pretty_;
};

}  // namespace

Result<json::value> parse_json(std::string_view text, std::string_view where) {
  const auto refuse = [&](size_t offset, std::string_view message) {
    const TextPosition at = position_of(text, offset);
    return fail(ErrorKind::kInput, "{}:{}:{}: {}", where, at.line, at.column, message);
  };
  if (const auto fault = scan_json(text)) return refuse(fault->offset, fault->message);

  const size_t skipped = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::string_view body = text.substr(skipped);
  json::parse_options options;
  options.max_depth = kMaxJsonDepth + 1;
  try {
    json::parser parser({}, options);
    boost::system::error_code error;
    const size_t read = parser.write(body, error);
    // The scan has accepted the text, so only limits of the library remain, such as a number's exponent.
    if (error) return refuse(skipped + std::min(read, body.size()), error.message());
    return parser.release();
  } catch (const std::exception& exception) {
    return refuse(skipped, exception.what());
  }
}

std::string to_pretty_json(const json::value& value) {
  return std::string(Printer(true).print(value)) + '\n';
}

std::string to_compact_json(const json::value& value) {
  return std::string(Printer(false).print(value));
}

json::string to_json_string(std::string_view text) {
  return json::string(to_valid_utf8(text));
}

json::array to_json_array(std::span<const std::string> texts) {
  json::array array;
  for (const std::string& text : texts) array.push_back(to_json_string(text));
  return array;
}

const json::value* find(const json::value& value, std::string_view key) {
  const json::object* object = value.if_object();
  return object ? object->if_contains(key) : nullptr;
}

std::optional<std::string_view> find_string(const json::value& value, std::string_view key) {
  const json::value* found = find(value, key);
  if (!found || !found->is_string()) return std::nullopt;
  return std::string_view(found->get_string().data(), found->get_string().size());
}

std::optional<long long> find_integer(const json::value& value, std::string_view key) {
  const json::value* found = find(value, key);
  return found ? integer_in(*found) : std::nullopt;
}

std::optional<long long> integer_in(const json::value& value) {
  if (const std::int64_t* number = value.if_int64()) return *number;
  const double* number = value.if_double();
  if (!number || std::trunc(*number) != *number || std::abs(*number) >= 9e15) return std::nullopt;
  return static_cast<long long>(*number);
}

std::optional<bool> find_bool(const json::value& value, std::string_view key) {
  const json::value* found = find(value, key);
  if (!found || !found->is_bool()) return std::nullopt;
  return found->get_bool();
}

const json::value* member(const json::value& value, std::initializer_list<std::string_view> keys) {
  const json::value* at = &value;
  for (const std::string_view key : keys) {
    at = find(*at, key);
    if (!at) return nullptr;
  }
  return at;
}

std::string text_at(const json::value& value, std::initializer_list<std::string_view> keys) {
  const json::value* found = member(value, keys);
  return found && found->is_string() ? std::string(std::string_view(found->get_string())) : "";
}

int number_at(const json::value& value, std::initializer_list<std::string_view> keys) {
  const json::value* found = member(value, keys);
  if (!found) return 0;
  const std::int64_t* number = found->if_int64();
  return number && std::in_range<int>(*number) ? static_cast<int>(*number) : 0;
}

const json::array& items_of(const json::value* array) {
  static const json::array kEmpty;
  return array && array->is_array() ? array->get_array() : kEmpty;
}

std::vector<std::string> strings_of(const json::value* array) {
  std::vector<std::string> texts;
  for (const json::value& item : items_of(array)) {
    if (item.is_string()) texts.emplace_back(item.get_string());
  }
  return texts;
}

const json::array& array_at(const json::value& value, std::string_view key) {
  return items_of(find(value, key));
}

void drop_infinities(json::value& value) {
  if (const double* number = value.if_double(); number && !std::isfinite(*number)) value = nullptr;
  if (json::array* items = value.if_array()) {
    for (json::value& item : *items) drop_infinities(item);
  }
  if (json::object* members = value.if_object()) {
    for (auto& member : *members) drop_infinities(member.value());
  }
}

TextPosition position_of(std::string_view text, size_t offset) {
  TextPosition position;
  // Editors do not count a byte order mark as a column.
  const size_t start = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  for (size_t at = start; at < std::min(offset, text.size()); ++at) {
    if (text[at] == '\n') {
      ++position.line;
      position.column = 1;
    } else if (!is_continuation_byte(text[at])) {  // the first byte of a character
      ++position.column;
    }
  }
  return position;
}

std::optional<size_t> locate(std::string_view text, std::string_view pointer, bool key) {
  std::optional<size_t> found;
  const auto fault = scan_json(text, [&](const JsonPlace& place) {
    if (place.pointer == pointer) found = key && place.key ? place.key : place.value;
  });
  return fault ? std::nullopt : found;
}

}  // namespace ralph
