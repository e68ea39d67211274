#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

CollectorPlan plan(const ProjectView& project, const Scope& scope) {
  const auto manifest = parse_json(project.text_of("package.json"), "package.json");
  const std::string script = manifest ? text_at(*manifest, {"scripts", "test"}) : "";
  const bool placeholder = contains(script, "no test specified");
  if (script.empty() || placeholder) return CollectorPlan::not_used();
  // They tell more by themselves.
  const bool known = project.depends_on_package("vitest") || project.depends_on_package("jest");
  if (known && !scope.named) return CollectorPlan::not_used();
  const std::string npm = project.tool("npm");
  if (npm.empty()) return missing_tool("npm", "see https://nodejs.org");
  CollectorPlan plan;
  plan.whole_project = true;
  plan.commands.push_back({{npm, "test", "--silent"}, project.root(), {{"CI", "1"}, {"NO_COLOR", "1"}}});
  return plan;
}

// Node's own runner: "ℹ pass 3", or "# pass 3".
std::optional<TestCounts> node_counts(std::string_view text) {
  TestCounts counts;
  bool seen = false;
  for_each_line(text, [&](std::string_view line) {
    for (const std::string_view mark : {"ℹ ", "# "}) {
      if (!line.starts_with(mark)) continue;
      std::string_view rest = line.substr(mark.size());
      const size_t blank = rest.find(' ');
      if (blank == std::string_view::npos) return;
      const std::string_view word = rest.substr(0, blank);
      rest.remove_prefix(blank + 1);
      const int number = take_int(rest);
      if (number < 0 || !rest.empty()) return;
      seen = seen || word == "pass";
      if (word == "pass") counts.passed += number;
      if (is_one_of(word, {"fail", "cancelled"})) counts.failed += number;
      if (is_one_of(word, {"skipped", "todo"})) counts.skipped += number;
    }
  });
  return seen ? std::optional(counts) : std::nullopt;
}

ParsedOutput parse(const ToolOutput& output) {
  ParsedOutput parsed;
  const std::string both = output.out + "\n" + output.err;
  parsed.tests = node_counts(both);
  if (!parsed.tests) parsed.tests = test_counts_in(both);
  if (output.exit_code == 0) return parsed;
  std::string_view said = trim(output.err).empty() ? trim(output.out) : trim(output.err);
  said = said.substr(said.rfind('\n') == std::string_view::npos ? 0 : said.rfind('\n') + 1);
  parsed.findings.push_back(failing_test("npm test", "", 0, fmt::format("exit code {}: {}", output.exit_code, said)));
  return parsed;
}

}  // namespace

constinit const Collector kNpmTest{"npm-test", Kind::kTests, plan, parse};

}  // namespace ralph::diagnostics
