#include "checks/diagnostics/sarif.h"

#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

struct Rule {
  std::string id, level;
  bool security = false;
};

bool is_about_security(const json::value& rule) {
  const json::value* properties = find(rule, "properties");
  if (!properties) return false;
  if (find(*properties, "security-severity")) return true;
  for (const json::value& tag : array_at(*properties, "tags")) {
    if (tag.is_string() && contains(std::string_view(tag.get_string()), "security")) return true;
  }
  return false;
}

struct Rules {
  std::vector<Rule> driver;
  std::vector<std::vector<Rule>> extensions;
  const Rule* by_id(std::string_view id) const {
    for (const Rule& rule : driver) {
      if (rule.id == id) return &rule;
    }
    for (const auto& extension : extensions) {
      for (const Rule& rule : extension) {
        if (rule.id == id) return &rule;
      }
    }
    return nullptr;
  }
};

std::vector<Rule> rules_in(const json::value& component) {
  std::vector<Rule> rules;
  for (const json::value& rule : array_at(component, "rules"))
    rules.push_back({text_at(rule, {"id"}), text_at(rule, {"defaultConfiguration", "level"}), is_about_security(rule)});
  return rules;
}

const Rule* rule_of(const Rules& rules, const json::value& result) {
  const json::value* index = find(result, "ruleIndex");
  if (!index) index = member(result, {"rule", "index"});
  const std::vector<Rule>* list = &rules.driver;
  if (const json::value* extension = member(result, {"rule", "toolComponent", "index"})) {
    const std::int64_t* at = extension->if_int64();
    if (at && *at >= 0 && static_cast<size_t>(*at) < rules.extensions.size())
      list = &rules.extensions[static_cast<size_t>(*at)];
  }
  const std::int64_t* at = index ? index->if_int64() : nullptr;
  if (at && *at >= 0 && static_cast<size_t>(*at) < list->size()) return &(*list)[static_cast<size_t>(*at)];
  std::string id = text_at(result, {"ruleId"});
  if (id.empty()) id = text_at(result, {"rule", "id"});
  return rules.by_id(id);
}

bool is_suppressed(const json::value& result) {
  const json::array& suppressions = array_at(result, "suppressions");
  return std::any_of(suppressions.begin(), suppressions.end(), [](const json::value& one) {
    const std::string status = text_at(one, {"status"});
    return status.empty() || status == "accepted";
  });
}

// A message may be a text, or the id of one of the rule's messages with arguments; in practice tools write the text.
std::string message_of(const json::value& result) {
  std::string text = text_at(result, {"message", "text"});
  return text.empty() ? text_at(result, {"message", "markdown"}) : text;
}

// An artifactLocation may be relative to a base, which may be relative to another. Without a base it is relative to the
// project.
std::string path_of(const json::value& artifact, const json::value& run) {
  constexpr int kMostBases = 16;  // a base may name itself
  std::string path = path_of_uri(text_at(artifact, {"uri"}));
  const json::value* at = &artifact;
  for (int i = 0; i < kMostBases && at && !path.starts_with('/') && !contains(path, "://"); ++i) {
    const std::string base = text_at(*at, {"uriBaseId"});
    at = base.empty() ? nullptr : member(run, {"originalUriBaseIds", base});
    if (const std::string root = at ? path_of_uri(text_at(*at, {"uri"})) : ""; !root.empty())
      path = join_path(root, path);
  }
  return path;
}

void place(Finding& finding, const json::value& result, const json::value& run) {
  const json::array& locations = array_at(result, "locations");
  if (locations.empty()) return;
  const json::value* physical = find(locations.front(), "physicalLocation");
  if (!physical) return;
  const json::value* artifact = find(*physical, "artifactLocation");
  if (artifact && text_at(*artifact, {"uri"}).empty()) {
    const int index = number_at(*artifact, {"index"});
    const json::array& artifacts = array_at(run, "artifacts");
    const bool known = index >= 0 && static_cast<size_t>(index) < artifacts.size();
    artifact = known ? find(artifacts[static_cast<size_t>(index)], "location") : nullptr;
  }
  if (artifact) finding.file = path_of(*artifact, run);
  finding.line = number_at(*physical, {"region", "startLine"});
  finding.column = number_at(*physical, {"region", "startColumn"});
}

}  // namespace

std::string path_of_uri(std::string_view uri) {
  if (uri.starts_with("file://")) {
    uri.remove_prefix(7);
    if (!uri.starts_with('/')) uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // skip the host
  } else if (uri.starts_with("file:")) {
    uri.remove_prefix(5);
  }
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    const bool escape = uri[i] == '%' && i + 2 < uri.size() && hex_digit(uri[i + 1]) >= 0 && hex_digit(uri[i + 2]) >= 0;
    if (!escape) {
      path += uri[i];
      continue;
    }
    path += static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2]));
    i += 2;
  }
  // A NUL would end the path for the kernel, but not for us.
  return path.find('\0') == std::string::npos ? path : "";
}

ParsedOutput parse_sarif(const ToolOutput& output) {
  // A tool may print something before and after the document.
  const size_t begin = output.out.find('{'), end = output.out.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {.failure = "it printed no SARIF"};
  const auto document = parse_json(std::string_view(output.out).substr(begin, end - begin + 1), "SARIF");
  const json::value* runs = document ? find(*document, "runs") : nullptr;
  if (!runs || !runs->is_array()) return {.failure = "it printed no SARIF"};
  ParsedOutput parsed;
  bool any = false;
  for (const json::value& run : runs->get_array()) {
    Rules rules;
    if (const json::value* driver = member(run, {"tool", "driver"})) rules.driver = rules_in(*driver);
    if (const json::value* tool = find(run, "tool")) {
      for (const json::value& extension : array_at(*tool, "extensions"))
        rules.extensions.push_back(rules_in(extension));
    }
    for (const json::value& invocation : array_at(run, "invocations")) {
      if (!find_bool(invocation, "executionSuccessful").value_or(true)) parsed.failure = "it says that it failed";
    }
    // Null or missing results: the tool did not check anything, or could not.
    if (const json::value* results = find(run, "results"); !results || !results->is_array())
      parsed.failure = "its SARIF has a run without results";
    for (const json::value& result : array_at(run, "results")) {
      any = true;
      // "review" and "open" are undecided, so they count.
      const std::string kind = text_at(result, {"kind"});
      if (is_one_of(kind, {"pass", "notApplicable", "informational"}) || is_suppressed(result)) continue;
      const Rule* rule = rule_of(rules, result);
      std::string level = text_at(result, {"level"});
      if (level.empty() && rule) level = rule->level;
      // Results of a kind other than "fail" have the level "none".
      const bool undecided = is_one_of(kind, {"review", "open"});
      if (level == "none" && !undecided) continue;
      Finding finding;
      finding.severity = level == "error" ? Severity::kError : level == "note" ? Severity::kInfo : Severity::kWarning;
      finding.rule = text_at(result, {"ruleId"});
      if (finding.rule.empty() && rule) finding.rule = rule->id;
      finding.message = message_of(result);
      if (rule && rule->security) finding.category = Category::kSecurity;
      place(finding, result, run);
      parsed.findings.push_back(std::move(finding));
    }
  }
  // Many tools exit with 1 when they find something.
  if (output.exit_code != 0 && !any && parsed.failure.empty()) parsed.failure = "it failed without a result";
  return parsed;
}

}  // namespace ralph::diagnostics
