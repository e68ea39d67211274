#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

constexpr std::string_view kTscSources[] = {".ts", ".tsx", ".mts", ".cts", ".js", ".jsx"};

CollectorPlan plan_tsc(const ProjectView& project, const Scope& scope) {
  if (!project.has("tsconfig.json") || files_for(project, scope, kTscSources).empty()) return CollectorPlan::not_used();
  const std::string tsc = project.tool("tsc");
  if (tsc.empty()) return missing_tool("tsc", "npm install typescript");
  CollectorPlan plan;
  plan.whole_project = true;
  // A solution file (only references) is checked by building all its projects.
  const bool solution = contains(project.text_of("tsconfig.json"), "\"references\"") &&
                        contains(project.text_of("tsconfig.json"), "\"files\"");
  std::vector<std::string> argv = {tsc, solution ? "-b" : "-p", ".", "--noEmit", "--pretty", "false"};
  // A .tsbuildinfo records which files have no errors. Pointing it elsewhere keeps it from being read; composite
  // projects can't do without one.
  if (!scope.caches && solution) argv.emplace_back("--force");
  if (!scope.caches && !solution) argv.insert(argv.end(), {"--incremental", "true", "--tsBuildInfoFile", "/dev/null"});
  plan.commands.push_back({argv, project.root()});
  return plan;
}

// "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'." or "error TS18003: No inputs ..."
std::optional<Finding> finding_in(std::string_view line) {
  Finding finding;
  const size_t error = line.find("error TS");
  if (error == std::string_view::npos) return std::nullopt;
  if (error > 0) {
    std::string_view place = line.substr(0, error);
    if (!place.ends_with("): ")) return std::nullopt;
    const size_t bracket = place.rfind('(');
    if (bracket == std::string_view::npos) return std::nullopt;
    finding.file = place.substr(0, bracket);
    std::string_view numbers = place.substr(bracket + 1);
    finding.line = take_int(numbers);
    if (numbers.starts_with(',')) numbers.remove_prefix(1), finding.column = take_int(numbers);
    if (finding.line < 0) return std::nullopt;
  }
  std::string_view rest = line.substr(error + 6);
  const size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  finding.rule = rest.substr(0, colon);
  finding.message = rest.substr(colon + 2);
  return finding;
}

ParsedOutput parse_tsc(const ToolOutput& output) {
  ParsedOutput parsed;
  for_each_line(output.out, [&](std::string_view line) {
    if (auto finding = finding_in(line)) parsed.findings.push_back(std::move(*finding));
  });
  if (output.exit_code != 0 && parsed.findings.empty()) parsed.failure = "tsc failed";
  return parsed;
}

}  // namespace

constinit const Collector kTsc{"tsc", Kind::kErrors, plan_tsc, parse_tsc};

}  // namespace ralph::diagnostics
