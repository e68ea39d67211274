#include "settings/project_scan.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <string_view>
#include <sys/stat.h>

#include "base/text.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr off_t kMaxFileSize = 1 << 20;

using Suggestions = std::vector<GuardrailSuggestion>;

// Read access to the project's files.
class Project {
 public:
  explicit Project(std::string folder) : folder_(std::move(folder)) {}

  bool has(std::string_view name) const { return file_exists(join_path(folder_, name)); }

  // The first of `names` that exists; empty if none does.
  std::string_view first_of(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      if (has(name)) return name;
    }
    return {};
  }

  // Empty if missing, unreadable, huge, or not a regular file (a pipe would never end).
  std::string text(std::string_view name) const {
    const std::string path = join_path(folder_, name);
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMaxFileSize) return {};
    return read_file(path).value_or("");
  }

 private:
  std::string folder_;
};

// The words before the colon of every rule, such as "all: build", or "test name='x': build" in a justfile.
std::vector<std::string> rules_of(std::string_view text, bool first_word_only) {
  std::vector<std::string> rules;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || contains(" \t#.", line.substr(0, 1))) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos || line.substr(colon).starts_with(":=")) continue;
    const std::string head = line.substr(0, colon);
    if (!first_word_only && contains(head, "=")) continue;  // X = a:b
    for (const std::string& word : split(replace_all(head, "\t", " "), ' ')) {
      if (word.empty()) continue;
      rules.push_back(word.starts_with('@') ? word.substr(1) : word);
      if (first_word_only) break;
    }
  }
  return rules;
}

struct Tasks {
  CheckPurpose purpose;
  std::string_view names;  // separated by blanks
};

constexpr std::array<Tasks, 5> kTasks = {{{CheckPurpose::kLint, "lint"},
                                          {CheckPurpose::kTypes, "typecheck type-check check-types types"},
                                          {CheckPurpose::kBuild, "build"},
                                          {CheckPurpose::kTest, "test tests"},
                                          {CheckPurpose::kCheck, "check"}}};

// Adds the first task in `rules` for each purpose.
void add_runner(Suggestions& out, const std::vector<std::string>& rules, std::string_view runner, std::string_view file,
                std::string_view noun) {
  for (const auto& [purpose, names] : kTasks) {
    for (const std::string& name : split(names, ' ')) {
      if (!is_one_of(name, rules)) continue;
      out.push_back({fmt::format("{} {}", runner, name), fmt::format("{} has the {} {}", file, noun, name), purpose});
      break;
    }
  }
}

Suggestions runners_of(const Project& project) {
  Suggestions out;
  if (const auto file = project.first_of({"GNUmakefile", "makefile", "Makefile"}); !file.empty())
    add_runner(out, rules_of(project.text(file), false), "make", file, "target");
  if (const auto file = project.first_of({"justfile", "Justfile", ".justfile"}); !file.empty())
    add_runner(out, rules_of(project.text(file), true), "just", file, "recipe");
  return out;
}

std::string_view script_runner(const Project& project, const json::value& package) {
  const std::string_view named = find_string(package, "packageManager").value_or("");
  for (const std::string_view manager : {"pnpm", "yarn", "bun", "npm"}) {
    if (named.starts_with(manager)) return manager;
  }
  if (project.has("pnpm-lock.yaml")) return "pnpm";
  if (project.has("yarn.lock")) return "yarn";
  if (project.has("bun.lockb") || project.has("bun.lock")) return "bun";
  return "npm";
}

void find_node(const Project& project, Suggestions& out) {
  const auto package = parse_json(project.text("package.json"), "package.json");
  if (!package) return;
  const std::string_view manager = script_runner(project, *package);
  std::vector<std::string> scripts;
  if (const json::value* listed = find(*package, "scripts"); listed && listed->is_object()) {
    for (const auto& script : listed->get_object()) {
      // npm init writes a test script that only fails.
      const bool stub =
          script.value().is_string() && contains(std::string_view(script.value().get_string()), "no test specified");
      if (!stub) scripts.emplace_back(script.key());
    }
  }
  const size_t before = out.size();
  add_runner(out, scripts, fmt::format("{} run", manager), "package.json", "script");
  bool types = false;
  for (size_t i = before; i < out.size(); ++i) types = types || out[i].purpose == CheckPurpose::kTypes;
  if (!types && project.has("tsconfig.json"))
    out.push_back({"npx tsc --noEmit", "there is a tsconfig.json", CheckPurpose::kTypes});
}

void find_deno(const Project& project, Suggestions& out) {
  const std::string_view file = project.first_of({"deno.json", "deno.jsonc"});
  if (file.empty()) return;
  const std::string why = fmt::format("there is a {}", file);
  out.push_back({"deno lint", why, CheckPurpose::kLint});
  out.push_back({"deno test", why, CheckPurpose::kTest});
}

void find_cmake(const Project& project, Suggestions& out) {
  const std::string text = project.text("CMakeLists.txt");
  if (text.empty()) return;
  out.push_back({"cmake -S . -B build && cmake --build build", "there is a CMakeLists.txt", CheckPurpose::kBuild});
  if (contains(text, "enable_testing") || contains(text, "include(CTest)") || contains(text, "add_test("))
    out.push_back({"ctest --test-dir build --output-on-failure", "CMakeLists.txt has tests", CheckPurpose::kTest});
}

void find_cargo(const Project& project, Suggestions& out) {
  if (!project.has("Cargo.toml")) return;
  out.push_back({"cargo clippy --all-targets -- -D warnings", "there is a Cargo.toml", CheckPurpose::kLint});
  out.push_back({"cargo test", "there is a Cargo.toml", CheckPurpose::kTest});
}

void find_go(const Project& project, Suggestions& out) {
  if (!project.has("go.mod")) return;
  const std::string_view lint =
      project.first_of({".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"});
  if (lint.empty()) {
    out.push_back({"go vet ./...", "there is a go.mod", CheckPurpose::kLint});
  } else {
    out.push_back({"golangci-lint run", fmt::format("there is a {}", lint), CheckPurpose::kLint});
  }
  out.push_back({"go test ./...", "there is a go.mod", CheckPurpose::kTest});
}

// A Python tool counts as used if its own file exists or a shared file has its section.
struct PythonTool {
  std::string_view command;
  CheckPurpose purpose;
  std::array<std::string_view, 2> own_files;
  std::string_view pyproject_section;
  std::string_view ini_section;  // of tox.ini and setup.cfg
};

constexpr std::array<PythonTool, 4> kPythonTools = {
    {{"ruff check .", CheckPurpose::kLint, {"ruff.toml", ".ruff.toml"}, "[tool.ruff", "[ruff"},
     {"mypy .", CheckPurpose::kTypes, {"mypy.ini", ".mypy.ini"}, "[tool.mypy", "[mypy"},
     {"pyright", CheckPurpose::kTypes, {"pyrightconfig.json", ""}, "[tool.pyright", "[pyright"},
     {"pytest", CheckPurpose::kTest, {"pytest.ini", "conftest.py"}, "[tool.pytest", "pytest]"}}};

std::string why_python(const Project& project, const PythonTool& tool) {
  for (const std::string_view file : tool.own_files) {
    if (!file.empty() && project.has(file)) return fmt::format("there is a {}", file);
  }
  if (contains(project.text("pyproject.toml"), tool.pyproject_section))
    return fmt::format("pyproject.toml has {}]", tool.pyproject_section);
  for (const std::string_view file : {"tox.ini", "setup.cfg"}) {
    if (contains(project.text(file), tool.ini_section)) return fmt::format("{} sets it up", file);
  }
  if (tool.purpose == CheckPurpose::kTest && project.has("tests/conftest.py")) return "there is a tests/conftest.py";
  return {};
}

void find_python(const Project& project, Suggestions& out) {
  const bool python =
      !project.first_of({"pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt"}).empty();
  if (!python) return;
  const std::string_view prefix = project.has("uv.lock") ? "uv run " : project.has("poetry.lock") ? "poetry run " : "";
  bool tests = false;
  for (const PythonTool& tool : kPythonTools) {
    const std::string why = why_python(project, tool);
    if (why.empty()) continue;
    tests = tests || tool.purpose == CheckPurpose::kTest;
    out.push_back({fmt::format("{}{}", prefix, tool.command), why, tool.purpose});
  }
  if (!tests && contains(project.text("tox.ini"), "[tox]"))
    out.push_back({fmt::format("{}tox", prefix), "there is a tox.ini", CheckPurpose::kTest});
}

void find_jvm(const Project& project, Suggestions& out) {
  if (const auto file = project.first_of({"build.gradle", "build.gradle.kts"}); !file.empty())
    out.push_back({project.has("gradlew") ? "./gradlew check" : "gradle check", fmt::format("there is a {}", file),
                   CheckPurpose::kTest});
  if (project.has("pom.xml"))
    out.push_back(
        {project.has("mvnw") ? "./mvnw -q verify" : "mvn -q verify", "there is a pom.xml", CheckPurpose::kTest});
}

void find_elixir(const Project& project, Suggestions& out) {
  if (!project.has("mix.exs")) return;
  if (contains(project.text("mix.exs"), ":credo"))
    out.push_back({"mix credo", "mix.exs has credo", CheckPurpose::kLint});
  out.push_back({"mix test", "there is a mix.exs", CheckPurpose::kTest});
}

void find_ruby(const Project& project, Suggestions& out) {
  const std::string gemfile = project.text("Gemfile");
  if (gemfile.empty()) return;
  if (contains(gemfile, "rubocop") || project.has(".rubocop.yml"))
    out.push_back({"bundle exec rubocop", "the project uses rubocop", CheckPurpose::kLint});
  if (contains(gemfile, "rspec") || project.has(".rspec")) {
    out.push_back({"bundle exec rspec", "the project uses rspec", CheckPurpose::kTest});
  } else if (project.has("bin/rails")) {
    out.push_back({"bin/rails test", "there is a bin/rails", CheckPurpose::kTest});
  } else if (contains(project.text("Rakefile"), "TestTask")) {
    out.push_back({"bundle exec rake test", "Rakefile has a TestTask", CheckPurpose::kTest});
  }
}

}  // namespace

std::vector<GuardrailSuggestion> suggest_guardrails(const std::string& folder) {
  const Project project(folder);
  const Suggestions runners = runners_of(project);
  Suggestions languages;
  for (auto* find_language :
       {find_node, find_deno, find_cmake, find_cargo, find_go, find_python, find_jvm, find_elixir, find_ruby})
    find_language(project, languages);

  std::multimap<CheckPurpose, GuardrailSuggestion> by_purpose;
  for (const GuardrailSuggestion& suggestion : runners) by_purpose.emplace(suggestion.purpose, suggestion);
  for (GuardrailSuggestion& suggestion : languages) {
    const bool hidden = std::ranges::any_of(
        runners, [&](const GuardrailSuggestion& runner) { return runner.purpose == suggestion.purpose; });
    if (!hidden) by_purpose.emplace(suggestion.purpose, std::move(suggestion));
  }
  Suggestions sorted;
  for (auto& entry : by_purpose) sorted.push_back(std::move(entry.second));
  return sorted;
}

std::string suggest_setup(const std::string& project) {
  // By the file that lists what to install; the first match per tool wins.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kSetups = {{
      {"package-lock.json", "npm ci"},
      {"npm-shrinkwrap.json", "npm ci"},
      {"pnpm-lock.yaml", "pnpm install --frozen-lockfile"},
      {"yarn.lock", "yarn install --frozen-lockfile"},
      {"bun.lock", "bun install --frozen-lockfile"},
      {"uv.lock", "uv sync --frozen"},
      {"poetry.lock", "poetry install"},
      {"requirements.txt", "pip install -r requirements.txt"},
      {"Cargo.toml", "cargo fetch"},
      {"go.mod", "go mod download"},
      {"Gemfile.lock", "bundle install"},
      {"composer.lock", "composer install"},
  }};
  std::vector<std::string> commands;
  for (const auto& [file, command] : kSetups) {
    const bool there = is_regular_file(join_path(project, file));
    if (there && std::ranges::find(commands, command) == commands.end()) commands.emplace_back(command);
  }
  return join(commands, " && ");
}

}  // namespace ralph
