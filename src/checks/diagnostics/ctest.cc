#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

// Programs built before the last edit prove nothing, so build first. Paths are passed as arguments, never as part of
// the script.
constexpr const char* kBuildAndTest =
    R"("$1" --build "$3" >&2 || { echo "ralph: the build failed"; exit 99; }; exec "$2" --test-dir "$3" --output-on-failure)";
constexpr int kBuildFailed = 99;

CollectorPlan plan_ctest(const ProjectView& project, const Scope&) {
  const std::string file = in_build_folder(project, "CTestTestfile.cmake");
  if (file.empty()) return CollectorPlan::not_used();
  const std::string ctest = project.tool("ctest"), cmake = project.tool("cmake");
  if (ctest.empty() || cmake.empty()) return missing_tool("ctest", "apt install cmake");
  const std::string folder = parent_path(join_path(project.root(), file));
  CollectorPlan plan;
  plan.whole_project = true;
  plan.commands.push_back(
      {{"/bin/sh", "-c", kBuildAndTest, "ctest", cmake, ctest, folder}, project.root(), {{"LC_ALL", "C"}}});
  return plan;
}

// "	  2 - bad (Failed)" below "The following tests FAILED:".
ParsedOutput parse_ctest(const ToolOutput& output) {
  ParsedOutput parsed;
  if (output.exit_code == kBuildFailed) {
    parsed.findings = parse_gnu(output.err);
    if (parsed.findings.empty()) parsed.findings = parse_gnu(output.out);
    std::erase_if(parsed.findings, [](const Finding& finding) { return finding.severity != Severity::kError; });
    parsed.failure = "the build failed";
    return parsed;
  }
  parsed.tests = test_counts_in(output.out);
  if (!parsed.tests && contains(output.out + output.err, "No tests were found")) parsed.tests = TestCounts{};
  bool in_list = false;
  for_each_line(output.out, [&](std::string_view line) {
    if (line.starts_with("The following tests FAILED:")) in_list = true;
    std::string_view entry = trim(line);
    if (!in_list || take_int(entry) < 0 || !entry.starts_with(" - ")) return;
    entry.remove_prefix(3);
    const size_t bracket = entry.rfind(" (");
    const std::string name(entry.substr(0, bracket));
    const std::string_view how = bracket == std::string_view::npos ? "" : entry.substr(bracket + 2);
    parsed.findings.push_back(failing_test(name, "", 0, how.substr(0, how.find(')'))));
  });
  if (!parsed.tests || (output.exit_code != 0 && parsed.findings.empty() && parsed.tests->executed() > 0))
    parsed.failure = "ctest failed";
  return parsed;
}

}  // namespace

constinit const Collector kCtest{"ctest", Kind::kTests, plan_ctest, parse_ctest};

}  // namespace ralph::diagnostics
