// The same with simdjson's On-Demand interface, which also reads only the requested parts.
#include <simdjson.h>

#include "scan_lines.h"

namespace {

using simdjson::ondemand::json_type;

std::uint64_t text_of(simdjson::ondemand::value value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? text.size() : 0;
}

std::uint64_t texts_of_parts(simdjson::ondemand::value content) {
  std::uint64_t found = 0;
  json_type type{};
  if (content.type().get(type) != simdjson::SUCCESS || type != json_type::array) return 0;
  for (auto part : content.get_array()) {
    if (part.type().get(type) != simdjson::SUCCESS || type != json_type::object) continue;
    for (auto member : part.get_object()) {
      const simdjson::ondemand::raw_json_string key = member.key();
      if (key == "type" || key == "text" || key == "name") found += text_of(member.value());
    }
  }
  return found;
}

std::uint64_t texts_of_line(simdjson::ondemand::document_reference line) {
  std::uint64_t found = 0;
  for (auto member : line.get_object()) {
    const simdjson::ondemand::raw_json_string key = member.key();
    if (key == "type" || key == "result") found += text_of(member.value());
    if (key != "message") continue;
    simdjson::ondemand::object message;
    if (member.value().get_object().get(message) != simdjson::SUCCESS) continue;
    for (auto inner : message) {
      if (inner.key().value() == "content") found += texts_of_parts(inner.value());
    }
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  simdjson::ondemand::parser parser;
  return time_reading(argc, argv, simdjson::SIMDJSON_PADDING, [&](const char* text, size_t size) {
    std::uint64_t found = 0;
    simdjson::ondemand::document_stream lines;
    if (parser.iterate_many(text, size, 4 << 20).get(lines) != simdjson::SUCCESS) return found;
    for (auto line : lines) found += texts_of_line(line.value());
    return found;
  });
}
