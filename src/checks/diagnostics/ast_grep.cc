#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/security_rules.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

constexpr std::string_view kAstGrepSources[] = {".py",  ".js",  ".jsx", ".mjs", ".cjs", ".ts", ".tsx",
                                                ".mts", ".cts", ".go",  ".rs",  ".c",   ".h",  ".cc",
                                                ".cpp", ".cxx", ".hpp", ".hh",  ".hxx"};

CollectorPlan plan_ast_grep(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> files = files_for(project, scope, kAstGrepSources);
  if (files.empty()) return CollectorPlan::not_used();
  // "sg" is a different program on most systems.
  const std::string ast_grep = project.tool("ast-grep");
  if (ast_grep.empty()) return missing_tool("ast-grep", "pip install ast-grep-cli, or npm install @ast-grep/cli");
  std::vector<std::string> argv = {ast_grep, "scan", "--json=stream", "--inline-rules", security_rules()};
  // Of all ignore files only .gitignore is respected; without it, the scan would include node_modules.
  for (const char* kind : {"dot", "exclude", "global", "parent"}) argv.insert(argv.end(), {"--no-ignore", kind});
  argv.emplace_back("--");
  CollectorPlan plan;
  plan.commands = commands_for(project, argv, scope.whole() ? std::vector<std::string>{"."} : files);
  return plan;
}

ParsedOutput parse_ast_grep(const ToolOutput& output) {
  ParsedOutput parsed;
  bool broken = false;
  for_each_line(output.out, [&](std::string_view line) {
    if (line.empty()) return;
    const auto item = parse_json(line, "ast-grep");
    if (!item) {
      broken = true;
      return;
    }
    // The message is the rule's: the code itself may contain a secret.
    Finding finding = finding_at(
        *item, {{"file"}, {"range", "start", "line"}, {"range", "start", "column"}, {"ruleId"}, {"message"}});
    ++finding.line, ++finding.column;  // theirs begin at 0
    finding.category = Category::kSecurity;
    finding.severity = severity_from(text_at(*item, {"severity"}));
    parsed.findings.push_back(std::move(finding));
  });
  if (broken) parsed.failure = "ast-grep's JSON is broken off";
  if (output.exit_code != 0 && parsed.findings.empty()) parsed.failure = "ast-grep failed";
  return parsed;
}

}  // namespace

constinit const Collector kAstGrep{"ast-grep", Kind::kSecurity, plan_ast_grep, parse_ast_grep};

}  // namespace ralph::diagnostics
