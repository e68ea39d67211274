#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

constexpr std::string_view kEslintSources[] = {".js",  ".jsx", ".mjs", ".cjs", ".ts",
                                               ".tsx", ".mts", ".cts", ".vue", ".svelte"};

bool eslint_is_configured(const ProjectView& project) {
  const std::string file =
      project.first_of({"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts",
                        "eslint.config.mts", "eslint.config.cts", ".eslintrc", ".eslintrc.js", ".eslintrc.cjs",
                        ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml"});
  return !file.empty() || contains(project.text_of("package.json"), "\"eslintConfig\"");
}

CollectorPlan plan_eslint(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> files = files_for(project, scope, kEslintSources);
  if (files.empty() || !(scope.named || eslint_is_configured(project))) return CollectorPlan::not_used();
  const std::string eslint = project.tool("eslint");
  if (eslint.empty()) return missing_tool("eslint", "npm install eslint");
  const std::vector<std::string> argv = {eslint, "--format=json", "--no-error-on-unmatched-pattern", "--"};
  CollectorPlan plan;
  plan.commands = commands_for(project, argv, scope.whole() ? std::vector<std::string>{"."} : files);
  return plan;
}

ParsedOutput parse_eslint(const ToolOutput& output) {
  const auto document = parse_json(output.out, "eslint");
  if (!document || !document->is_array()) return {.failure = "eslint printed no JSON"};
  ParsedOutput parsed;
  for (const json::value& file : document->get_array()) {
    for (const json::value& item : array_at(file, "messages")) {
      Finding finding = finding_at(item, {{}, {"line"}, {"column"}, {"ruleId"}, {"message"}});
      finding.file = text_at(file, {"filePath"});
      finding.severity = number_at(item, {"severity"}) == 1 ? Severity::kWarning : Severity::kError;
      if (finding.rule.starts_with("security/")) finding.category = Category::kSecurity;
      // "File ignored because …" is about the command line, not the code.
      if (finding.rule.empty() && finding.line == 0 && finding.severity == Severity::kWarning) continue;
      parsed.findings.push_back(std::move(finding));
    }
  }
  if (output.exit_code > 1) parsed.failure = "eslint failed";
  return parsed;
}

}  // namespace

constinit const Collector kEslint{"eslint", Kind::kErrors, plan_eslint, parse_eslint};

}  // namespace ralph::diagnostics
