#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

bool mypy_is_configured(const ProjectView& project) {
  return !project.first_of({"mypy.ini", ".mypy.ini"}).empty() ||
         contains(project.text_of("pyproject.toml"), "[tool.mypy") || contains(project.text_of("setup.cfg"), "[mypy");
}

// Whether the configuration names the files to check; then none are passed to mypy.
bool has_own_files(const ProjectView& project) {
  for (const char* file : {"mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"}) {
    const std::string& text = project.text_of(file);
    const size_t section = text.find(std::string_view(file) == "pyproject.toml" ? "[tool.mypy]" : "[mypy]");
    if (section == std::string::npos) continue;
    const std::string_view its = std::string_view(text).substr(section, text.find("\n[", section) - section);
    for (const std::string_view key : {"\nfiles", "\npackages", "\nmodules"}) {
      if (contains(its, key)) return true;
    }
  }
  return false;
}

CollectorPlan plan_mypy(const ProjectView& project, const Scope& scope) {
  const std::vector<std::string> files = files_for(project, scope, {".py", ".pyi"});
  if (files.empty() || !(scope.named || mypy_is_configured(project))) return CollectorPlan::not_used();
  const std::string mypy = project.tool("mypy");
  if (mypy.empty()) return missing_tool("mypy", "pip install mypy");
  std::vector<std::string> argv = {mypy, "--output=json", "--no-error-summary", "--show-column-numbers"};
  // The cache relies on file times and sizes, which an agent can set, and on the content of the cache folder.
  if (!scope.caches) argv.emplace_back("--cache-dir=/dev/null");
  CollectorPlan plan;
  if (scope.whole()) {
    if (!has_own_files(project)) argv.insert(argv.end(), {"--", "."});
    plan.commands.push_back({argv, project.root()});
  } else {
    argv.emplace_back("--");
    plan.commands = commands_for(project, argv, files);
  }
  return plan;
}

ParsedOutput parse_mypy(const ToolOutput& output) {
  ParsedOutput parsed;
  for_each_line(output.out, [&](std::string_view line) {
    if (!line.starts_with('{')) return;
    const auto item = parse_json(line, "mypy");
    if (!item) {
      parsed.failure = "mypy's JSON is broken off";
      return;
    }
    Finding finding = finding_at(*item, {{"file"}, {"line"}, {"column"}, {"code"}, {"message"}});
    ++finding.column;  // theirs begins at 0
    finding.severity = severity_from(text_at(*item, {"severity"}));
    parsed.findings.push_back(std::move(finding));
  });
  // 1: findings; 2: it gave up after a syntax error, which is a finding, too.
  if (output.exit_code != 0 && !has_error(parsed.findings)) parsed.failure = "mypy failed";
  parsed.gave_up = output.exit_code > 1;
  return parsed;
}

}  // namespace

constinit const Collector kMypy{"mypy", Kind::kErrors, plan_mypy, parse_mypy};

}  // namespace ralph::diagnostics
