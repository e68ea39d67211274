#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

CollectorPlan plan_ruff(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> files = files_for(project, scope, {".py", ".pyi"});
  if (files.empty()) return CollectorPlan::not_used();
  const std::string ruff = project.tool("ruff");
  if (ruff.empty()) return missing_tool("ruff", "pip install ruff");
  // Neither ignore files nor a cache in the project are trusted: an agent can write both. Findings in files that git
  // ignores are dropped later.
  const std::vector<std::string> argv = {
      ruff,         "check", "--output-format=json", "--no-fix", "--force-exclude", "--no-respect-gitignore",
      "--no-cache", "--"};
  CollectorPlan plan;
  plan.commands = commands_for(project, argv, scope.whole() ? std::vector<std::string>{"."} : files);
  return plan;
}

// E and F (pycodestyle, pyflakes) and syntax errors are errors; S (bandit) is about security.
bool is_error(std::string_view code) {
  return code.empty() || starts_with_any(code, {"E", "F", "invalid-syntax"});
}
bool is_security(std::string_view code) {
  return code.size() > 1 && code[0] == 'S' && code[1] >= '0' && code[1] <= '9';
}

ParsedOutput parse_ruff(const ToolOutput& output) {
  const auto document = parse_json(output.out, "ruff");
  if (!document || !document->is_array()) return {.failure = "ruff printed no JSON"};
  ParsedOutput parsed;
  for (const json::value& item : document->get_array()) {
    Finding finding =
        finding_at(item, {{"filename"}, {"location", "row"}, {"location", "column"}, {"code"}, {"message"}});
    finding.severity = is_error(finding.rule) ? Severity::kError : Severity::kWarning;
    if (is_security(finding.rule)) finding.category = Category::kSecurity;
    parsed.findings.push_back(std::move(finding));
  }
  if (output.exit_code > 1) parsed.failure = "ruff failed";
  return parsed;
}

}  // namespace

constinit const Collector kRuff{"ruff", Kind::kErrors, plan_ruff, parse_ruff};

}  // namespace ralph::diagnostics
