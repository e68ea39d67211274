#include <map>
#include <set>

#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

constexpr const char* kBuildRule = "build";

// The folders of a go.work: "use ./a", or a block.
std::vector<std::string> used_folders(std::string_view work) {
  std::vector<std::string> folders;
  bool in_block = false;
  for_each_line(work, [&](std::string_view line) {
    line = trim(line.substr(0, line.find("//")));
    if (in_block && line == ")") {
      in_block = false;
      return;
    }
    if (!in_block) {
      if (!line.starts_with("use") || line.substr(3).find_first_of(" \t(") != 0) return;
      line = trim(line.substr(3));
      if (line.starts_with('(')) {
        in_block = true;
        return;
      }
    }
    if (line.size() > 1 && line.front() == line.back() && (line.front() == '"' || line.front() == '`'))
      line = line.substr(1, line.size() - 2);
    if (!line.empty()) folders.emplace_back(line);
  });
  return folders;
}

// The folders of the modules, as "", "a/", "b/c/": the project itself, or those of its workspace.
std::vector<std::string> module_folders(const ProjectView& project) {
  std::vector<std::string> folders;
  for (const std::string& used : used_folders(project.text_of("go.work"))) {
    const std::string path = absolute_path(used, project.root());
    if (path == project.root()) folders.emplace_back();
    if (const std::string folder = project.relative(path, project.root()); !folder.empty())
      folders.push_back(folder + "/");
  }
  if (folders.empty()) folders.emplace_back();
  return folders;
}

std::string module_name(std::string_view mod) {
  std::string name;
  for_each_line(mod, [&](std::string_view line) {
    if (line.starts_with("module ")) name = trim(line.substr(7));
  });
  return name;
}

CollectorPlan plan_go(const ProjectView& project, const Scope& scope, const std::vector<std::string>& words) {
  if (project.first_of({"go.mod", "go.work"}).empty() || files_for(project, scope, {".go"}).empty())
    return CollectorPlan::not_used();
  const std::string go = project.tool("go");
  if (go.empty()) return missing_tool("go", "see https://go.dev/dl");
  CollectorPlan plan;
  plan.whole_project = true;
  std::vector<std::string> argv = {go};
  argv.insert(argv.end(), words.begin(), words.end());
  std::string modules;  // "example.com/x sub/", one per line
  for (const std::string& folder : module_folders(project)) {
    argv.push_back(fmt::format("./{}...", folder));
    modules += fmt::format("{} {}\n", module_name(project.text_of(folder + "go.mod")), folder);
  }
  plan.commands.push_back({argv, project.root(), {}, modules});
  return plan;
}

CollectorPlan plan_vet(const ProjectView& project, const Scope& scope) {
  CollectorPlan plan = plan_go(project, scope, {"vet", "-json"});
  // vet's own findings in generated files don't matter; build errors there do.
  plan.compiles = true;
  plan.compile_rule = kBuildRule;
  return plan;
}
CollectorPlan plan_go_test(const ProjectView& project, const Scope& scope) {
  // -count=1: run the tests now. A cached result may depend on inputs that go does not track.
  return plan_go(project, Scope{{}, scope.named}, {"test", "-json", "-count=1"});
}

// "./main.go:6:12: undefined: x", "vet: ./main.go:6:12: …"
std::optional<Finding> build_error(std::string_view line) {
  if (line.starts_with("vet: ")) line.remove_prefix(5);
  const PlacedLine placed = placed_line(line);
  if (!placed.file.ends_with(".go")) return std::nullopt;
  return Finding{
      std::string(placed.file),    placed.line, placed.column, Severity::kError, Category::kError, kBuildRule,
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

// JSON objects, one per package, between lines that start with '#'; and compile errors.
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

// The folder of a package, from the modules that the plan recorded. If several match, the longest wins.
std::string folder_of(std::string_view package, std::string_view modules) {
  std::string folder;
  size_t longest = 0;
  for_each_line(modules, [&](std::string_view line) {
    const std::string_view module = line.substr(0, line.find(' '));
    const bool is_in = package == module || package.starts_with(std::string(module) + "/");
    if (module.size() < longest || module.empty() || !is_in) return;
    longest = module.size();
    folder = line.substr(std::min(module.size() + 1, line.size()));
    if (package != module) folder += std::string(package.substr(module.size() + 1)) + "/";
  });
  return folder;
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

ParsedOutput parse_go_test(const ToolOutput& output) {
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
    bool parent = false, explained = test.outcome == "pass";
    for (auto sub = tests.upper_bound(key); sub != tests.end() && sub->first.first == package; ++sub) {
      if (!sub->first.second.starts_with(name + "/")) {
        if (sub->first.second.starts_with(name)) continue;  // "TestA#01" sorts between "TestA" and "TestA/x"
        break;
      }
      parent = true;
      explained = explained || !is_one_of(sub->second.outcome, {"pass", "skip"});
    }
    // Its subtests are counted, and it fails when they do; but it may also fail by itself.
    if (parent && (explained || test.outcome == "skip")) continue;
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
constinit const Collector kGoTest{"go-test", Kind::kTests, plan_go_test, parse_go_test};

}  // namespace ralph::diagnostics
