#include "journal/records.h"

#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

namespace ralph::record {
namespace {

constexpr std::string_view kEnvelope[] = {"v", "seq", "time", "prev", "type"};

bool is_envelope(std::string_view key) {
  for (std::string_view name : kEnvelope) {
    if (key == name) return true;
  }
  return false;
}

void write_fields(const Unknown& unknown, json::object& out) {
  for (const auto& [key, value] : unknown.fields_as_written) {
    if (!is_envelope(key)) out[key] = value;
  }
}

template <class T>
void write_fields(const T& body, json::object& out) {
  // `fields` is shared by reading and writing, so it is not const; FieldWriter only reads the members.
  const_cast<T&>(body).fields(FieldWriter{out});
}

Body read_unknown(std::string_view type, const json::object& in) {
  Unknown unknown{std::string(type), {}};
  for (const auto& [key, value] : in) {
    if (!is_envelope(key)) drop_infinities(unknown.fields_as_written[key] = value);
  }
  return unknown;
}

// Reads the first alternative of Body, from index I on, whose kType is `type`.
template <size_t I = 0>
Body read_body(std::string_view type, const json::object& in) {
  if constexpr (I + 1 == std::variant_size_v<AnyBody>) {
    return read_unknown(type, in);
  } else {
    using T = std::variant_alternative_t<I, AnyBody>;
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
  if (!record.prev.empty()) out["prev"] = record.prev;
  out["type"] = to_json_string(type_of(record.body));
  std::visit([&](const auto& body) { write_fields(body, out); }, record.body);
  return to_compact_json(std::move(out));
}

Result<Record> from_line(std::string_view line) {
  TRY_VALUE(const json::value parsed, parse_json(line, "record"));
  const json::object* in = parsed.if_object();
  if (!in) return fail(ErrorKind::kInput, "the record is not a JSON object");
  const json::value* type = in->if_contains("type");
  if (!type || !type->is_string()) return fail(ErrorKind::kInput, "the record has no \"type\"");
  Record record;
  const FieldReader read{*in};
  record.version = 0;
  read("v", record.version), read("seq", record.sequence), read("time", record.time), read("prev", record.prev);
  record.body = read_body(std::string_view(type->get_string()), *in);
  return record;
}

Body::Body() = default;
Body::Body(const Body&) = default;
Body::Body(Body&&) noexcept = default;
Body& Body::operator=(const Body&) = default;
Body& Body::operator=(Body&&) noexcept = default;
Body::~Body() = default;

}  // namespace ralph::record
