#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

bool pyright_is_configured(const ProjectView& project) {
  return project.has("pyrightconfig.json") || contains(project.text_of("pyproject.toml"), "[tool.pyright") ||
         contains(project.text_of("pyproject.toml"), "[tool.basedpyright") || project.depends_on_package("pyright");
}

CollectorPlan plan_pyright(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> files = files_for(project, scope, {".py", ".pyi"});
  if (files.empty() || !(scope.named || pyright_is_configured(project))) return CollectorPlan::not_used();
  const std::string pyright = project.tool("pyright");
  if (pyright.empty()) return missing_tool("pyright", "pip install pyright, or npm install pyright");
  CollectorPlan plan;
  if (scope.whole()) {
    plan.commands.push_back({{pyright, "--outputjson"}, project.root()});
  } else {
    plan.commands = commands_for(project, {pyright, "--outputjson"}, files);
  }
  return plan;
}

ParsedOutput parse_pyright(const ToolOutput& output) {
  const auto document = parse_json(output.out, "pyright");
  if (!document || !find(*document, "generalDiagnostics")) return {.failure = "pyright printed no JSON"};
  ParsedOutput parsed;
  for (const json::value& item : array_at(*document, "generalDiagnostics")) {
    Finding finding = finding_at(
        item, {{"file"}, {"range", "start", "line"}, {"range", "start", "character"}, {"rule"}, {"message"}});
    ++finding.line, ++finding.column;  // theirs begin at 0
    finding.severity = severity_from(text_at(item, {"severity"}));
    parsed.findings.push_back(std::move(finding));
  }
  if (output.exit_code > 1) parsed.failure = "pyright failed";
  const json::value* analysed = member(*document, {"summary", "filesAnalyzed"});
  if (analysed && analysed->if_int64() && *analysed->if_int64() == 0) parsed.failure = "pyright looked at no file";
  return parsed;
}

}  // namespace

constinit const Collector kPyright{"pyright", Kind::kErrors, plan_pyright, parse_pyright};

}  // namespace ralph::diagnostics
