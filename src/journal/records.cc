#include "journal/records.h"

#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

namespace ralph::record {
namespace {

constexpr std::string_view kEnvelope[] = {"v", "seq", "time", "type"};

bool is_envelope(std::string_view key) {
  for (std::string_view name : kEnvelope) {
    if (key == name) return true;
  }
  return false;
}

// Writes each field that a record lists; an optional without a value is left out.
struct FieldWriter {
  json::object& out;

  void operator()(std::string_view key, const std::string& value) const { out[key] = to_json_string(value); }
  void operator()(std::string_view key, std::int64_t value) const { out[key] = value; }
  void operator()(std::string_view key, double value) const { out[key] = value; }
  void operator()(std::string_view key, const json::value& value) const { out[key] = value; }
  void operator()(std::string_view key, const std::vector<std::string>& values) const {
    json::array list;
    for (const std::string& value : values) list.emplace_back(to_json_string(value));
    out[key] = std::move(list);
  }
  void operator()(std::string_view key, const std::optional<std::string>& value) const {
    if (value) out[key] = to_json_string(*value);
  }
};

std::optional<std::int64_t> as_integer(const json::value& value) {
  if (const std::int64_t* i = value.if_int64()) return *i;
  return std::nullopt;  // larger numbers and fractions are nothing that ralph writes
}

// A number beyond all doubles has no JSON text that could be written again.
void drop_infinities(json::value& value) {
  if (const double* number = value.if_double(); number && !std::isfinite(*number)) value = nullptr;
  if (json::array* items = value.if_array()) {
    for (json::value& item : *items) drop_infinities(item);
  }
  if (json::object* members = value.if_object()) {
    for (auto& member : *members) drop_infinities(member.value());
  }
}

// Reads each field that a record lists. A journal lies where an agent can write, so a field of another type is left at
// its default instead of being trusted or thrown about.
struct FieldReader {
  const json::object& in;

  void operator()(std::string_view key, std::string& value) const {
    if (const json::value* found = in.if_contains(key); found && found->is_string()) {
      value = std::string_view(found->get_string());
    }
  }
  void operator()(std::string_view key, std::int64_t& value) const {
    if (const json::value* found = in.if_contains(key)) value = as_integer(*found).value_or(value);
  }
  void operator()(std::string_view key, double& value) const {
    const json::value* found = in.if_contains(key);
    if (found && found->is_number()) value = found->to_number<double>();
    if (!std::isfinite(value)) value = 0;
  }
  void operator()(std::string_view key, json::value& value) const {
    if (const json::value* found = in.if_contains(key)) drop_infinities(value = *found);
  }
  void operator()(std::string_view key, std::vector<std::string>& values) const {
    const json::value* found = in.if_contains(key);
    if (!found || !found->is_array()) return;
    for (const json::value& item : found->get_array()) {
      if (item.is_string()) values.emplace_back(std::string_view(item.get_string()));
    }
  }
  void operator()(std::string_view key, std::optional<std::string>& value) const {
    if (const json::value* found = in.if_contains(key); found && found->is_string()) {
      value = std::string(std::string_view(found->get_string()));
    }
  }
};

void write_fields(const Unknown& unknown, json::object& out) {
  for (const auto& [key, value] : unknown.fields_as_written) {
    if (!is_envelope(key)) out[key] = value;
  }
}

template <class T>
void write_fields(const T& body, json::object& out) {
  // `fields` lists members for reading and writing alike, so it is not const; FieldWriter takes all of them as const.
  const_cast<T&>(body).fields(FieldWriter{out});
}

Body read_unknown(std::string_view type, const json::object& in) {
  Unknown unknown{std::string(type), {}};
  for (const auto& [key, value] : in) {
    if (!is_envelope(key)) drop_infinities(unknown.fields_as_written[key] = value);
  }
  return unknown;
}

// The first alternative of Body, from number I on, that is called `type`.
template <size_t I = 0>
Body read_body(std::string_view type, const json::object& in) {
  if constexpr (I + 1 == std::variant_size_v<Body>) {
    return read_unknown(type, in);
  } else {
    using T = std::variant_alternative_t<I, Body>;
    if (type != T::kType) return read_body<I + 1>(type, in);
    T body;
    body.fields(FieldReader{in});
    return body;
  }
}

}  // namespace

std::string_view type_of(const Body& body) {
  return std::visit(
      [](const auto& b) -> std::string_view {
        using T = std::decay_t<decltype(b)>;
        if constexpr (std::same_as<T, Unknown>) {
          return b.type;
        } else {
          return T::kType;
        }
      },
      body);
}

std::string to_line(const Record& record) {
  json::object out;
  out["v"] = kVersion;
  out["seq"] = record.sequence;
  out["time"] = to_iso8601(record.time);
  out["type"] = to_json_string(type_of(record.body));
  std::visit([&](const auto& body) { write_fields(body, out); }, record.body);
  return to_compact_json(std::move(out));
}

Result<Record> from_line(std::string_view line) {
  TRY_VALUE(const json::value parsed, parse_json(line, "record"));
  const json::object* in = parsed.if_object();
  if (!in) return fail(ErrorKind::kInput, "the record is no JSON object");
  const json::value* type = in->if_contains("type");
  if (!type || !type->is_string()) return fail(ErrorKind::kInput, "the record has no \"type\"");
  Record record;
  if (const json::value* sequence = in->if_contains("seq")) record.sequence = as_integer(*sequence).value_or(0);
  if (const json::value* time = in->if_contains("time"); time && time->is_string()) {
    record.time = from_iso8601(time->get_string()).value_or(WallTime{});
  }
  record.body = read_body(std::string_view(type->get_string()), *in);
  return record;
}

}  // namespace ralph::record
