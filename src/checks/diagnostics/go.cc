#include <map>
#include <set>

#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"

namespace ralph::diagnostics {
namespace {

CollectorPlan plan_go(const ProjectView& project, const Scope& scope, const std::vector<std::string>& words) {
  if (project.first_of({"go.mod", "go.work"}).empty() || files_for(project, scope, {".go"}).empty())
    return CollectorPlan::not_used();
  const std::string go = project.tool("go");
  if (go.empty()) return missing_tool("go", "see https://go.dev/dl");
  CollectorPlan plan;
  plan.whole_project = true;
  std::vector<std::string> argv = {go};
  argv.insert(argv.end(), words.begin(), words.end());
  std::string module;
  for_each_line(project.text_of("go.mod"), [&](std::string_view line) {
    if (line.starts_with("module ")) module = trim(line.substr(7));
  });
  plan.commands.push_back({argv, project.root(), {}, module});
  return plan;
}

CollectorPlan plan_vet(const ProjectView& project, const Scope& scope) {
  return plan_go(project, scope, {"vet", "-json", "./..."});
}
CollectorPlan plan_test(const ProjectView& project, const Scope& scope) {
  // -count=1: they run now. What go remembers of an earlier run may depend on what it does not see.
  return plan_go(project, Scope{{}, scope.named}, {"test", "-json", "-count=1", "./..."});
}

// "./main.go:6:12: undefined: x", "vet: ./main.go:6:12: …"
std::optional<Finding> build_error(std::string_view line) {
  if (line.starts_with("vet: ")) line.remove_prefix(5);
  const PlacedLine placed = placed_line(line);
  if (!placed.file.ends_with(".go")) return std::nullopt;
  return Finding{std::string(placed.file),    placed.line, placed.column, Severity::kError, Category::kError, "build",
                 std::string(placed.message), ""};
}

void add_vet_findings(ParsedOutput& parsed, const json::value& document) {
  if (!document.is_object()) return;
  for (const auto& package : document.get_object()) {
    if (!package.value().is_object()) continue;
    for (const auto& analyzer : package.value().get_object()) {
      if (const std::string error = text_at(analyzer.value(), {"error"}); !error.empty()) {
        parsed.findings.push_back(
            {"", 0, 0, Severity::kError, Category::kError, std::string(analyzer.key()), error, ""});
        continue;
      }
      if (!analyzer.value().is_array()) continue;
      for (const json::value& item : analyzer.value().get_array()) {
        const std::string position = text_at(item, {"posn"}) + ": ";
        const PlacedLine placed = placed_line(position);
        parsed.findings.push_back({std::string(placed.file), placed.line, placed.column, Severity::kError,
                                   Category::kError, std::string(analyzer.key()), text_at(item, {"message"}), ""});
      }
    }
  }
}

// Objects, one for each package, between lines that begin with '#'; and what could not be compiled.
ParsedOutput parse_vet(const ToolOutput& output) {
  ParsedOutput parsed;
  bool complete = true;
  std::string object;
  for (const std::string* stream : {&output.out, &output.err}) {
    for_each_line(*stream, [&](std::string_view line) {
      if (object.empty() && line != "{" && line != "{}") {
        if (auto finding = build_error(line)) parsed.findings.push_back(std::move(*finding));
        return;
      }
      object += line;
      object += '\n';
      if (line != "}" && line != "{}") return;
      const auto document = parse_json(object, "go vet");
      complete = complete && document.has_value();
      if (document) add_vet_findings(parsed, *document);
      object.clear();
    });
  }
  if (!object.empty() || !complete) parsed.failure = "go vet's JSON is broken off";
  if (output.exit_code != 0 && parsed.findings.empty()) parsed.failure = "go vet failed";
  return parsed;
}

struct GoTest {
  std::string outcome, said, file;
  int line = 0;
};

// The folder of a package in its module.
std::string folder_of(std::string_view package, std::string_view module) {
  if (package == module || !package.starts_with(std::string(module) + "/")) return {};
  return std::string(package.substr(module.size() + 1)) + "/";
}

void note_output(GoTest& test, std::string_view text, const std::string& folder) {
  text = trim(text);
  if (starts_with_any(text, {"=== ", "--- "})) return;
  const PlacedLine placed = placed_line(text);
  if (test.said.empty() && placed.file.ends_with(".go")) {
    test.said = placed.message;
    test.file = folder + std::string(placed.file);
    test.line = placed.line;
  } else if (test.said.empty() && text.starts_with("panic:")) {
    test.said = text;
  }
}

ParsedOutput parse_test(const ToolOutput& output) {
  ParsedOutput parsed;
  TestCounts counts;
  std::map<std::pair<std::string, std::string>, GoTest> tests;  // by package and name
  std::set<std::string> failed_packages;
  bool broken = false, any = false;
  for_each_line(output.out, [&](std::string_view line) {
    if (!line.starts_with('{')) return;
    const auto event = parse_json(line, "go test");
    if (!event) {
      broken = true;
      return;
    }
    any = true;
    const std::string action = text_at(*event, {"Action"}), package = text_at(*event, {"Package"});
    const std::string name = text_at(*event, {"Test"});
    if (action == "build-output") {
      if (auto finding = build_error(trim(text_at(*event, {"Output"})))) parsed.findings.push_back(std::move(*finding));
    } else if (name.empty()) {
      if (action == "fail") failed_packages.insert(package);
    } else if (action == "output") {
      note_output(tests[{package, name}], text_at(*event, {"Output"}), folder_of(package, output.context));
    } else if (is_one_of(action, {"pass", "fail", "skip"})) {
      tests[{package, name}].outcome = action;
    }
  });
  for (const auto& [key, test] : tests) {
    const auto& [package, name] = key;
    const auto next = tests.upper_bound(key);
    const bool parent =
        next != tests.end() && next->first.first == package && next->first.second.starts_with(name + "/");
    if (parent) continue;  // its subtests are counted
    // A test without an outcome was running when the program died.
    ++(test.outcome == "pass" ? counts.passed : test.outcome == "skip" ? counts.skipped : counts.failed);
    if (is_one_of(test.outcome, {"pass", "skip"})) continue;
    parsed.findings.push_back(failing_test(name, test.file, test.line, test.said));
    failed_packages.erase(package);
  }
  for (const std::string& package : failed_packages) {
    if (parsed.findings.empty()) parsed.findings.push_back(failing_test(package, "", 0, "the package failed"));
  }
  parsed.tests = counts;
  if (broken) parsed.failure = "go test's JSON is broken off";
  if (!any && output.exit_code != 0) parsed = {.failure = "go test failed"};
  return parsed;
}

}  // namespace

constinit const Collector kGoVet{"go-vet", Kind::kErrors, plan_vet, parse_vet};
constinit const Collector kGoTest{"go-test", Kind::kTests, plan_test, parse_test};

}  // namespace ralph::diagnostics
