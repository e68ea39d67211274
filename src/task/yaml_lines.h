// The small subset of YAML that run-info.yaml and message headers need: one "key: value" per line, where a value is a
// plain word, a number, null, or a string or list as in JSON. Every YAML parser can read the output; input is checked
// strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value.h"

namespace ralph {

class YamlLines {
 public:
  void text(std::string_view key, std::string_view value);  // quoted unless it is unambiguous
  void number(std::string_view key, std::int64_t value);
  void time(std::string_view key, std::optional<WallTime> value);  // nullopt: null
  void list(std::string_view key, std::span<const std::string> values);
  void plain(std::string_view key, std::string_view value);  // a word that the caller has validated

  const std::string& str() const { return text_; }

 private:
  std::string text_;
};

// Parses the lines into an object. Skips blank lines and comments. Fails on anything else that YamlLines can't write,
// and on a duplicate key. `where` names the text in the error.
Result<json::object> parse_yaml_lines(std::string_view text, std::string_view where);

}  // namespace ralph
