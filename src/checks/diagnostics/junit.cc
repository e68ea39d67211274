#include "checks/diagnostics/junit.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "base/utf8.h"

namespace ralph::diagnostics {
namespace {

constexpr size_t kMostReport = 64 * 1024;  // per failure

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text[i] == '&' ? text.substr(i, 12).find(';') : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += text[i];
      continue;
    }
    const std::string_view name = text.substr(i + 1, end);  // including the semicolon
    constexpr std::pair<std::string_view, char> kKnown[] = {
        {"lt;", '<'}, {"gt;", '>'}, {"amp;", '&'}, {"quot;", '"'}, {"apos;", '\''}};
    const auto* const found =
        std::find_if(std::begin(kKnown), std::end(kKnown), [&](const auto& known) { return known.first == name; });
    if (found != std::end(kKnown)) {
      out += found->second;
    } else if (name.starts_with('#')) {
      const bool hex = name.starts_with("#x");
      unsigned long code = 0;
      for (const char c : name.substr(hex ? 2 : 1)) {
        const int digit = hex_digit(c);
        if (digit < 0 || code > 0x10FFFF) break;
        code = code * (hex ? 16 : 10) + static_cast<unsigned long>(digit);
      }
      append_utf8(out, code);
    } else {
      out += '&';
      continue;
    }
    i += end;
  }
  return out;
}

struct Tag {
  std::string_view name;
  bool closes = false, empty = false;
  std::map<std::string_view, std::string> attributes{};
};

// The text between < and >.
Tag tag_of(std::string_view inside) {
  Tag tag;
  if (inside.starts_with('/')) inside.remove_prefix(1), tag.closes = true;
  if (inside.ends_with('/')) inside.remove_suffix(1), tag.empty = true;
  const size_t name = std::min(inside.find_first_of(" \t\r\n"), inside.size());
  tag.name = inside.substr(0, name);
  inside.remove_prefix(name);
  if (!is_one_of(tag.name, {"testcase", "failure", "error", "skipped"})) return tag;
  for (;;) {
    const size_t equals = inside.find('=');
    if (equals == std::string_view::npos || equals + 1 >= inside.size()) return tag;
    const std::string_view key = trim(inside.substr(0, equals));
    const char quote = inside[equals + 1];
    const size_t end = inside.find(quote, equals + 2);
    if (end == std::string_view::npos) return tag;
    tag.attributes[key] = unescaped(inside.substr(equals + 2, end - equals - 2));
    inside.remove_prefix(end + 1);
  }
}

// The end of the tag that starts at `begin`; an attribute may contain a >.
size_t end_of_tag(std::string_view text, size_t begin) {
  char quote = 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (quote != 0) {
      if (text[i] == quote) quote = 0;
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::vector<JunitCase>> parse_junit(std::string_view text) {
  const size_t begin = text.rfind("<?xml");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  std::vector<JunitCase> cases;
  bool complete = false, in_case = false, in_failure = false;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('<', at);
    const std::string_view between = text.substr(at, open == std::string_view::npos ? open : open - at);
    if (in_failure && cases.back().text.size() < kMostReport) cases.back().text += unescaped(between);
    if (open == std::string_view::npos) break;
    if (text.substr(open).starts_with("<![CDATA[")) {
      const size_t end = text.find("]]>", open);
      if (end == std::string_view::npos) break;
      if (in_failure && cases.back().text.size() < kMostReport)
        cases.back().text += text.substr(open + 9, end - open - 9);
      at = end + 3;
      continue;
    }
    const size_t end = end_of_tag(text, open);
    if (end == std::string_view::npos) break;
    Tag tag = tag_of(text.substr(open + 1, end - open - 1));
    at = end + 1;
    if (is_one_of(tag.name, {"testsuites", "testsuite"})) complete = complete || tag.closes || tag.empty;
    if (tag.name == "testcase") {
      in_case = !tag.closes && !tag.empty;
      if (tag.closes) continue;
      JunitCase& test = cases.emplace_back();
      test.suite = tag.attributes["classname"];
      test.name = tag.attributes["name"];
      test.file = tag.attributes["file"];
      if (const auto line = parse_count(tag.attributes["line"])) test.line = static_cast<int>(*line);
      if (tag.attributes["line"] == "0") test.line = 0;
    } else if (in_case && is_one_of(tag.name, {"failure", "error"})) {
      in_failure = !tag.closes && !tag.empty;
      if (tag.closes) continue;
      cases.back().outcome = JunitCase::Outcome::kFailed;
      if (cases.back().message.empty()) cases.back().message = tag.attributes["message"];
    } else if (in_case && tag.name == "skipped" && !tag.closes && cases.back().outcome == JunitCase::Outcome::kPassed) {
      cases.back().outcome = JunitCase::Outcome::kSkipped;
    }
  }
  if (!complete) return std::nullopt;
  return cases;
}

}  // namespace ralph::diagnostics
