#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

CollectorPlan plan_npm(const ProjectView& project, const Scope& scope) {
  const auto manifest = parse_json(project.text_of("package.json"), "package.json");
  const std::string script = manifest ? text_at(*manifest, {"scripts", "test"}) : "";
  const bool placeholder = contains(script, "no test specified");
  if (script.empty() || placeholder) return CollectorPlan::not_used();
  // Their own collectors report more.
  const bool known = uses_vitest(project) || uses_jest(project);
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

// "not ok 2 - adds" from TAP, "✖ adds (0.7ms)" from node's own runner: the innermost ones, without duplicates. A test
// with subtests follows them, with less indentation.
std::vector<std::string> failed_names(std::string_view text) {
  std::vector<std::string> names;
  size_t deepest = 0;
  text = text.substr(0, text.find("\n✖ failing tests:"));  // which lists all of them again
  for_each_line(text, [&](std::string_view line) {
    const size_t depth = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(depth);
    if (line.starts_with("not ok ")) {
      line.remove_prefix(7);
      if (take_int(line) >= 0) line = trim(line);
      if (line.starts_with("- ")) line.remove_prefix(2);
      const size_t directive = line.find(" # ");
      const std::string_view word = directive == std::string_view::npos ? "" : line.substr(directive + 3);
      if (starts_with_any(to_lower(word.substr(0, 4)), {"todo", "skip"})) return;
      line = line.substr(0, directive);
    } else if (line.starts_with("✖ ")) {
      line.remove_prefix(std::string_view("✖ ").size());
      if (const size_t took = line.rfind(" ("); took != std::string_view::npos && line.ends_with("ms)"))
        line = line.substr(0, took);
    } else {
      return;
    }
    const bool contains_the_last = std::exchange(deepest, depth) > depth;
    line = trim(line);
    if (!contains_the_last && !line.empty() && !is_one_of(std::string(line), names)) names.emplace_back(line);
  });
  return names;
}

// The last line that is not part of a runner's statistics.
std::string_view last_line_of(std::string_view text) {
  std::string_view last;
  for_each_line(text, [&](std::string_view line) {
    line = trim(line);
    if (!line.empty() && !starts_with_any(line, {"# ", "ℹ "})) last = line;
  });
  return last;
}

ParsedOutput parse_npm(const ToolOutput& output) {
  ParsedOutput parsed;
  const std::string both = output.out + "\n" + output.err;
  parsed.tests = node_counts(both);
  if (!parsed.tests) parsed.tests = test_counts_in(both);
  if (output.exit_code == 0) return parsed;
  for (std::string& name : failed_names(both)) parsed.findings.push_back(failing_test(std::move(name), "", 0, ""));
  if (!parsed.findings.empty()) return parsed;
  std::string_view said = last_line_of(output.err);
  if (said.empty()) said = last_line_of(output.out);
  parsed.findings.push_back(failing_test("npm test", "", 0, fmt::format("exit code {}: {}", output.exit_code, said)));
  return parsed;
}

}  // namespace

constinit const Collector kNpmTest{"npm-test", Kind::kTests, plan_npm, parse_npm};

}  // namespace ralph::diagnostics
