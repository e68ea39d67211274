// jest and vitest, which share a JSON format.
#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {

bool uses_vitest(const ProjectView& project) {
  return project.depends_on_package("vitest") ||
         !project.first_of({"vitest.config.ts", "vitest.config.js", "vitest.config.mts", "vitest.config.mjs"}).empty();
}
bool uses_jest(const ProjectView& project) {
  return project.depends_on_package("jest") ||
         !project
              .first_of({"jest.config.js", "jest.config.ts", "jest.config.cjs", "jest.config.mjs", "jest.config.json"})
              .empty();
}

namespace {

CollectorPlan plan_vitest(const ProjectView& project, const Scope& scope) {
  if (!scope.named && !uses_vitest(project)) return CollectorPlan::not_used();
  const std::string vitest = project.tool("vitest");
  if (vitest.empty()) return missing_tool("vitest", "npm install vitest");
  CollectorPlan plan;
  plan.whole_project = true;
  plan.commands.push_back({{vitest, "run", "--reporter=json"}, project.root(), {{"CI", "1"}, {"NO_COLOR", "1"}}});
  return plan;
}

CollectorPlan plan_jest(const ProjectView& project, const Scope& scope) {
  if (!scope.named && (!uses_jest(project) || uses_vitest(project))) return CollectorPlan::not_used();
  const std::string jest = project.tool("jest");
  if (jest.empty()) return missing_tool("jest", "npm install jest");
  CollectorPlan plan;
  plan.whole_project = true;
  plan.commands.push_back(
      {{jest, "--json", "--testLocationInResults"}, project.root(), {{"CI", "1"}, {"NO_COLOR", "1"}}});
  return plan;
}

// "    at Object.toBe (/p/a.test.js:2:97)", "    at /p/a.test.ts:3:12": the first line in the test's own file.
int line_in(std::string_view trace, const std::string& file) {
  int line = 0;
  for_each_line(trace, [&](std::string_view text) {
    const size_t at = text.find(file + ":");
    if (line > 0 || at == std::string_view::npos) return;
    std::string_view rest = text.substr(at + file.size() + 1);
    line = std::max(take_int(rest), 0);
  });
  return line;
}

void add_case(ParsedOutput& parsed, const json::value& test, const std::string& file) {
  const std::string status = text_at(test, {"status"});
  if (status != "failed") return;
  std::string trace;
  for (const json::value& message : array_at(test, "failureMessages")) {
    if (message.is_string()) trace += std::string_view(message.get_string());
    trace += '\n';
  }
  int line = line_in(trace, file);
  if (line == 0) line = number_at(test, {"location", "line"});
  parsed.findings.push_back(failing_test(text_at(test, {"fullName"}), file, line, trace));
}

ParsedOutput parse_jest(const ToolOutput& output) {
  // Tests may print something before the report.
  size_t begin = output.out.find("{\"num");
  if (begin == std::string::npos) {
    const std::string both = output.out + output.err;
    if (contains(both, "No tests found") || contains(both, "No test files found")) return {.tests = TestCounts{}};
    return {.failure = "it printed no JSON"};
  }
  std::string_view text = std::string_view(output.out).substr(begin);
  text = text.substr(0, text.rfind('}') + 1);
  const auto document = parse_json(text, "the report");
  if (!document) return {.failure = "its JSON is broken off"};
  ParsedOutput parsed;
  parsed.tests = TestCounts{number_at(*document, {"numPassedTests"}), number_at(*document, {"numFailedTests"}),
                            number_at(*document, {"numPendingTests"}) + number_at(*document, {"numTodoTests"})};
  for (const json::value& suite : array_at(*document, "testResults")) {
    const std::string file = text_at(suite, {"name"});
    const size_t before = parsed.findings.size();
    for (const json::value& test : array_at(suite, "assertionResults")) add_case(parsed, test, file);
    // A file that could not be loaded has no failed tests.
    if (text_at(suite, {"status"}) == "failed" && parsed.findings.size() == before) {
      parsed.findings.push_back(failing_test("the file can't be run", file, 0, text_at(suite, {"message"})));
      ++parsed.tests->failed;
    }
  }
  if (output.exit_code != 0 && parsed.findings.empty() && parsed.tests->executed() > 0)
    parsed.failure = "it failed though no test did";
  return parsed;
}

}  // namespace

constinit const Collector kVitest{"vitest", Kind::kTests, plan_vitest, parse_jest};
constinit const Collector kJest{"jest", Kind::kTests, plan_jest, parse_jest};

}  // namespace ralph::diagnostics
