// Converts structs to JSON and back. A struct lists its fields once, for both writing and reading:
//
//   template <class V> void fields(V&& v) { v("iteration", iteration), v("reason", reason); }
//
// Agents can write to a journal, so fields are not trusted: one of the wrong type keeps its default. Where nothing may
// be missing, strictly_from() is for reading.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "base/words.h"
#include "json/value.h"

namespace ralph {

struct AnyField {
  template <class T>
  void operator()(std::string_view, T&) const {}
};
template <class T>
concept Listed = requires(T value, AnyField any) { value.fields(any); };

// How many values an enum has that is written as a number.
template <class E>
inline constexpr int kNumbered = 0;
template <class E>
concept Numbered = kNumbered<E> > 0;

struct FieldWriter {
  json::object& out;
  bool brief = false;  // omit default values

  template <class T>
  void operator()(std::string_view key, const T& value) const {
    if (brief && is_default(value)) return;
    out[key] = json_of(value);
  }
  template <class T>
  void operator()(std::string_view key, const std::optional<T>& value) const {
    if (value) out[key] = json_of(*value);
  }

 private:
  template <class T>
  static bool is_default(const T& value) {
    if constexpr (requires { value.empty(); }) {
      return value.empty();
    } else {
      return value == T{};
    }
  }
  static json::value json_of(const json::value& value) { return value; }
  static json::value json_of(const std::string& text) { return to_json_string(text); }
  static json::value json_of(Milliseconds time) { return time.count(); }
  static json::value json_of(WallTime time) { return json::value(to_iso8601(time)); }
  template <class T>
    requires std::is_arithmetic_v<T>
  static json::value json_of(T number) {
    return number;
  }
  template <Worded E>
  static json::value json_of(E value) {
    return json::value(to_string(value));
  }
  template <Numbered E>
  static json::value json_of(E value) {
    return static_cast<int>(value);
  }
  template <class T>
  json::value json_of(const std::vector<T>& items) const {
    json::array list;
    for (const T& item : items) list.push_back(json_of(item));
    return list;
  }
  template <class T>
  json::value json_of(const std::map<std::string, T>& members) const {
    json::object object;
    for (const auto& [key, value] : members) object[to_json_string(key)] = json_of(value);
    return object;
  }
  template <Listed T>
  json::value json_of(const T& value) const {
    json::object object;
    // `fields` is shared by reading and writing, so it is not const; a writer only reads the members.
    const_cast<T&>(value).fields(FieldWriter{object, brief});
    return object;
  }
};

struct FieldReader {
  const json::object& in;
  std::string* bad = nullptr;  // if given: the first key that is missing or has the wrong type

  template <class T>
  void operator()(std::string_view key, T& value) const {
    const json::value* found = in.if_contains(key);
    const bool fits = found && take(*found, value);
    if (!fits && bad && bad->empty()) *bad = key;
  }

 private:
  static bool take(const json::value& from, json::value& value) {
    drop_infinities(value = from);
    return true;
  }
  static bool take(const json::value& from, std::string& value) {
    if (from.is_string()) value = std::string_view(from.get_string());
    return from.is_string();
  }
  static bool take(const json::value& from, bool& value) {
    if (from.is_bool()) value = from.get_bool();
    return from.is_bool();
  }
  static bool take(const json::value& from, double& value) {
    if (from.is_number()) value = from.to_number<double>();
    if (!std::isfinite(value)) value = 0;
    return from.is_number();
  }
  template <std::integral T>
  static bool take(const json::value& from, T& value) {
    const std::uint64_t* large = from.if_uint64();  // a value that was not parsed from text may have this type
    const auto number = integer_in(from);
    const bool fits = large ? std::in_range<T>(*large) : number && std::in_range<T>(*number);
    if (fits) value = large ? static_cast<T>(*large) : static_cast<T>(*number);
    return fits;
  }
  static bool take(const json::value& from, Milliseconds& value) {
    const std::int64_t* count = from.if_int64();
    if (count) value = Milliseconds(*count);
    return count;
  }
  static bool take(const json::value& from, WallTime& value) {
    if (from.is_string()) value = from_iso8601(from.get_string()).value_or(WallTime{});
    return from.is_string();
  }
  template <Worded E>
  static bool take(const json::value& from, E& value) {
    const auto found = from.is_string() ? from_word<E>(from.get_string()) : std::nullopt;
    value = found.value_or(value);
    return found.has_value();
  }
  template <Numbered E>
  static bool take(const json::value& from, E& value) {
    int number = -1;
    const bool fits = take(from, number) && number >= 0 && number < kNumbered<E>;
    if (fits) value = static_cast<E>(number);
    return fits;
  }
  // A value of the wrong type or an unknown word counts as absent.
  template <class T>
  bool take(const json::value& from, std::optional<T>& value) const {
    T found{};
    const bool fits = take(from, found);
    constexpr bool kPlain = Worded<T> || std::same_as<T, std::string> || std::same_as<T, bool>;
    if constexpr (Worded<T>) value.reset();
    if (kPlain ? fits : !from.is_null()) value = std::move(found);
    return fits;
  }
  template <class T>
  bool take(const json::value& from, std::vector<T>& values) const {
    if (!from.is_array()) return false;
    bool all = true;
    for (const json::value& item : from.get_array()) {
      const bool skipped = std::same_as<T, std::string> && !item.is_string();
      all = !skipped && take(item, values.emplace_back()) && all;
    }
    return all;
  }
  template <class T>
  bool take(const json::value& from, std::map<std::string, T>& members) const {
    if (!from.is_object()) return false;
    bool all = true;
    for (const auto& member : from.get_object()) all = take(member.value(), members[member.key()]) && all;
    return all;
  }
  template <Listed T>
  bool take(const json::value& from, T& value) const {
    if (from.is_object()) value.fields(FieldReader{from.get_object(), bad});
    return from.is_object();
  }
};

// Convert a whole struct: json_from() appends to `object`, brief_json() omits default values, from_json() reads it
// back. strictly_from() requires every field and sets `bad` to the first one that is missing or has the wrong type.
template <Listed T>
json::object json_from(const T& value, json::object object = {}, bool brief = false) {
  const_cast<T&>(value).fields(FieldWriter{object, brief});
  return object;
}
template <Listed T>
json::object brief_json(const T& value) {
  return json_from(value, {}, true);
}
template <Listed T>
T from_json(const json::value& json) {
  T value;
  if (const json::object* object = json.if_object()) value.fields(FieldReader{*object});
  return value;
}
template <Listed T>
T strictly_from(const json::value& json, std::string& bad) {
  T value;
  static const json::object kNothing;
  const json::object* object = json.if_object();
  value.fields(FieldReader{object ? *object : kNothing, &bad});
  return value;
}

}  // namespace ralph
