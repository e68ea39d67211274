// The JSON library and the helpers that ralph uses around it.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/result.h"

namespace ralph {

namespace json = boost::json;

// Parses one whole document. `where` names it in errors, which give line and column: ".ralph/settings.json:3:7:
// expected ',' or '}'". A leading byte order mark is accepted; duplicate keys are rejected, because readers disagree on
// which one counts.
Result<json::value> parse_json(std::string_view text, std::string_view where);

// Pretty-prints with two-space indentation and a final newline; keeps the order of keys.
std::string to_pretty_json(const json::value& value);

// All on one line, without a newline. Strings are escaped by json/writer, so nothing in the result can control a
// terminal.
std::string to_compact_json(const json::value& value);

// Text as a JSON string value; invalid UTF-8 becomes U+FFFD, so ralph always writes valid JSON.
json::string to_json_string(std::string_view text);

json::array to_json_array(std::span<const std::string> texts);

// Lookups that never throw: empty if `value` is not an object, has no such key, or the type differs.
const json::value* find(const json::value& value, std::string_view key);
std::optional<std::string_view> find_string(const json::value& value, std::string_view key);
std::optional<long long> find_integer(const json::value& value, std::string_view key);
std::optional<bool> find_bool(const json::value& value, std::string_view key);

// The items of an array and, of these, the texts; none if it is no array or nullptr.
const json::array& items_of(const json::value* array);
std::vector<std::string> strings_of(const json::value* array);

// A member of a member; nullptr if there is none. With the others, its value: "", 0 or none if there is none.
const json::value* member(const json::value& value, std::initializer_list<std::string_view> keys);
std::string text_at(const json::value& value, std::initializer_list<std::string_view> keys);
int number_at(const json::value& value, std::initializer_list<std::string_view> keys);
const json::array& array_at(const json::value& value, std::string_view key);

// The value itself as a whole number; 10.0 is one too, as in JSON Schema.
std::optional<long long> integer_in(const json::value& value);

// Replaces infinite numbers, which JSON cannot express, with null.
void drop_infinities(json::value& value);

// Line and column (both from 1) of a byte offset.
struct TextPosition {
  size_t line = 1;
  size_t column = 1;
};
TextPosition position_of(std::string_view text, size_t offset);

// Where the value at a JSON pointer ("/agent/command") begins in `text`, which must be valid JSON. If the last part of
// the pointer is a key, `key` asks for the position of the key instead of the value.
std::optional<size_t> locate(std::string_view text, std::string_view pointer, bool key = false);

}  // namespace ralph
