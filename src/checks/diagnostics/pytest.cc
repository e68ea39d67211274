#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/junit.h"
#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

bool is_test_file(const std::string& path) {
  const std::string name = base_name(path);
  return name.ends_with(".py") && (name.starts_with("test_") || name.ends_with("_test.py") || name == "conftest.py");
}

bool uses_pytest(const ProjectView& project) {
  if (!project.first_of({"pytest.ini", ".pytest.ini", "pytest.toml"}).empty() ||
      contains(project.text_of("pyproject.toml"), "[tool.pytest") ||
      contains(project.text_of("setup.cfg"), "[tool:pytest]") || contains(project.text_of("tox.ini"), "[pytest]"))
    return true;
  const auto files = project.files();
  return std::any_of(files.begin(), files.end(), is_test_file);
}

CollectorPlan plan_pytest(const ProjectView& project, const Scope& scope) {
  if (!(scope.named && project.has_ending({".py"})) && !uses_pytest(project)) return CollectorPlan::not_used();
  const std::string pytest = project.tool("pytest");
  if (pytest.empty()) return missing_tool("pytest", "pip install pytest");
  CollectorPlan plan;
  plan.whole_project = true;
  // The cache would be trusted and left behind. Without the cache plugin, options that a project sets for it (--ff)
  // would be errors, so it stays enabled but gets no folder.
  // The report goes to standard error, which pytest captures from the tests: no file is left behind.
  plan.commands.push_back({{pytest, "-q", "-o", "cache_dir=/dev/null/cache", "-W", "ignore::pytest.PytestCacheWarning",
                            "--color=no", "-o", "junit_family=xunit1", "--junit-xml=/dev/stderr"},
                           project.root(),
                           {{"PYTHONDONTWRITEBYTECODE", "1"}}});
  return plan;
}

// The last "test_app.py:4: AssertionError" in a failure's text is more useful than the start of the test.
void pytest_place(Finding& finding, const JunitCase& test) {
  finding.file = test.file;
  finding.line = test.line >= 0 ? test.line + 1 : 0;  // pytest counts from 0
  for_each_line(test.text, [&](std::string_view line) {
    const std::string padded = std::string(line) + " ";
    const PlacedLine placed = placed_line(padded);
    if (!placed.file.ends_with(".py") || placed.line <= 0) return;
    if (finding.file.empty() || placed.file == finding.file || placed.file.ends_with("/" + finding.file)) {
      finding.file = placed.file;
      finding.line = placed.line;
    }
  });
}

// For a file that can't be collected, only the text says why: "E   ModuleNotFoundError: No module named 'x'".
std::string said_by(const JunitCase& test) {
  std::string said = test.message;
  if (said != "collection failure") return said;
  for_each_line(test.text, [&](std::string_view line) {
    if (line.starts_with("E ") && !trim(line.substr(2)).empty()) said = trim(line.substr(2));
  });
  return said;
}

ParsedOutput parse_pytest(const ToolOutput& output) {
  const auto report = parse_junit(output.err);
  if (!report) return {.failure = "pytest wrote no report"};
  ParsedOutput parsed;
  parsed.tests = TestCounts{};
  for (const JunitCase& test : *report) {
    if (test.outcome == JunitCase::Outcome::kPassed) ++parsed.tests->passed;
    if (test.outcome == JunitCase::Outcome::kSkipped) ++parsed.tests->skipped;
    if (test.outcome != JunitCase::Outcome::kFailed) continue;
    ++parsed.tests->failed;
    Finding finding = failing_test(test.suite.empty() ? test.name : test.suite + "." + test.name, "", 0, said_by(test));
    pytest_place(finding, test);
    parsed.findings.push_back(std::move(finding));
  }
  // 1: failures; 2: files that can't be collected, or an interrupt; 5: no tests.
  const bool known =
      output.exit_code <= 1 || output.exit_code == 5 || (output.exit_code == 2 && !parsed.findings.empty());
  if (!known) parsed.failure = "pytest failed";
  // A plugin can set the exit code and end the run before the last test.
  if (output.exit_code == 1 && parsed.findings.empty()) parsed.failure = "it failed though no test did";
  return parsed;
}

}  // namespace

constinit const Collector kPytest{"pytest", Kind::kTests, plan_pytest, parse_pytest};

}  // namespace ralph::diagnostics
