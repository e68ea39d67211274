// Converts structs to JSON and back. A struct lists its fields once, for both writing and reading:
//
//   template <class V> void fields(V&& v) { v("iteration", iteration), v("reason", reason); }
//
// Agents can write to a journal, so fields are not trusted: one of the wrong type keeps its default.
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
#include "journal/words.h"
#include "json/value.h"

namespace ralph {

struct AnyField {
  template <class T>
  void operator()(std::string_view, T&) const {}
};
template <class T>
concept Listed = requires(T value, AnyField any) { value.fields(any); };

// Replaces infinite numbers, which JSON cannot express, with null.
void drop_infinities(json::value& value);

struct FieldWriter {
  json::object& out;
  bool brief = false;  // omit default values

  template <class T>
  void operator()(std::string_view key, const T& value) const {
    if (brief && value == T{}) return;
    out[key] = json_of(value);
  }
  template <class T>
  void operator()(std::string_view key, const std::optional<T>& value) const {
    if (value) out[key] = json_of(*value);
  }

 private:
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

  template <class T>
  void operator()(std::string_view key, T& value) const {
    if (const json::value* found = in.if_contains(key)) take(*found, value);
  }

 private:
  static void take(const json::value& from, json::value& value) { drop_infinities(value = from); }
  static void take(const json::value& from, std::string& value) {
    if (from.is_string()) value = std::string_view(from.get_string());
  }
  static void take(const json::value& from, bool& value) {
    if (from.is_bool()) value = from.get_bool();
  }
  static void take(const json::value& from, double& value) {
    if (from.is_number()) value = from.to_number<double>();
    if (!std::isfinite(value)) value = 0;
  }
  template <std::integral T>
  static void take(const json::value& from, T& value) {
    // A value that was not parsed from text may have either type. ralph never writes fractions here.
    if (const std::int64_t* number = from.if_int64()) {
      if (std::in_range<T>(*number)) value = static_cast<T>(*number);
    } else if (const std::uint64_t* large = from.if_uint64()) {
      if (std::in_range<T>(*large)) value = static_cast<T>(*large);
    }
  }
  static void take(const json::value& from, Milliseconds& value) {
    if (const std::int64_t* count = from.if_int64()) value = Milliseconds(*count);
  }
  static void take(const json::value& from, WallTime& value) {
    if (from.is_string()) value = from_iso8601(from.get_string()).value_or(WallTime{});
  }
  template <Worded E>
  static void take(const json::value& from, E& value) {
    if (from.is_string()) value = from_word<E>(from.get_string()).value_or(value);
  }
  template <class T>
  static void take(const json::value& from, std::optional<T>& value) {
    T found{};
    take(from, found);
    // A value of the wrong type or an unknown word counts as absent.
    if constexpr (Worded<T>) {
      value = from.is_string() ? from_word<T>(from.get_string()) : std::nullopt;
    } else if constexpr (std::same_as<T, std::string>) {
      if (from.is_string()) value = std::move(found);
    } else {
      if (!from.is_null()) value = std::move(found);
    }
  }
  template <class T>
  static void take(const json::value& from, std::vector<T>& values) {
    if (!from.is_array()) return;
    for (const json::value& item : from.get_array()) {
      if constexpr (std::same_as<T, std::string> || Worded<T>) {
        if (!item.is_string()) continue;
      }
      take(item, values.emplace_back());
    }
  }
  template <class T>
  static void take(const json::value& from, std::map<std::string, T>& members) {
    if (!from.is_object()) return;
    for (const auto& member : from.get_object()) take(member.value(), members[std::string(member.key())]);
  }
  template <Listed T>
  static void take(const json::value& from, T& value) {
    if (from.is_object()) value.fields(FieldReader{from.get_object()});
  }
};

// Convert a whole struct: json_from() appends to `object`, brief_json() omits default values, from_json() reads it
// back.
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

}  // namespace ralph
