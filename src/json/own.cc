#include "json/own.h"

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>

namespace ralph {

namespace {

struct Parsed {
  json::monotonic_resource memory;
  json::value value{};
};

}  // namespace

const json::value& parse_own_json(std::string_view text) {
  // Much larger than the text: pages that are never written are never allocated.
  auto* const parsed = new Parsed{json::monotonic_resource(text.size() * 8)};
  json::parser parser(&parsed->memory);
  parser.write(text);
  return *new (&parsed->value) json::value(parser.release());  // never freed, nor is the memory it is in
}

}  // namespace ralph
