#include "settings/project_scan.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

using Files = std::map<std::string, std::string>;

// The commands suggested for a project with these files.
std::vector<std::string> suggested(const Files& files) {
  std::string name = testing::TempDir() + "scan XXXXXX";
  const std::string project = ::mkdtemp(name.data());
  for (const auto& [path, text] : files) {
    EXPECT_TRUE(make_directories(parent_path(project + "/" + path)));
    EXPECT_TRUE(write_file_atomically(project + "/" + path, text));
  }
  std::vector<std::string> commands;
  for (const GuardrailSuggestion& suggestion : suggest_guardrails(project)) {
    EXPECT_FALSE(suggestion.why.empty());
    commands.push_back(suggestion.command);
  }
  std::filesystem::remove_all(project);
  return commands;
}

TEST(ProjectScan, RecognisesWhatAProjectUses) {
  struct Row {
    Files files;
    std::vector<std::string> commands;
  };
  const Row rows[] = {
      {{}, {}},
      {{{"Makefile", ".PHONY: test lint\nX := a:test\nCC = gcc:check\nall build: x\n\tlint: no\ntest lint : build\n"}},
       {"make lint", "make build", "make test"}},
      {{{"Makefile", "check:\n\ttrue\n"}}, {"make check"}},
      {{{"justfile", "# test: no\n@lint:\n  true\ntest name='x': lint\n  true\n"}}, {"just lint", "just test"}},
      {{{"package.json",
         R"({"scripts": {"test": "vitest run", "lint": "eslint .", "type-check": "tsc", "build": "x"}})"}},
       {"npm run lint", "npm run type-check", "npm run build", "npm run test"}},
      {{{"package.json", R"({"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}})"}}, {}},
      {{{"package.json", R"({"scripts": {"test": "x"}})"}, {"yarn.lock", ""}}, {"yarn run test"}},
      {{{"package.json", R"({"scripts": {"test": "x"}})"}, {"pnpm-lock.yaml", ""}}, {"pnpm run test"}},
      {{{"package.json", R"({"scripts": {"test": "x"}})"}, {"bun.lock", ""}}, {"bun run test"}},
      {{{"package.json", R"({"packageManager": "pnpm@9.1.0", "scripts": {"test": "x"}})"}}, {"pnpm run test"}},
      {{{"package.json", "{}"}, {"tsconfig.json", "{}"}}, {"npx tsc --noEmit"}},
      {{{"package.json", "{broken"}}, {}},
      {{{"deno.json", "{}"}}, {"deno lint", "deno test"}},
      {{{"CMakeLists.txt", "project(x)"}}, {"cmake -S . -B build && cmake --build build"}},
      {{{"CMakeLists.txt", "enable_testing()"}},
       {"cmake -S . -B build && cmake --build build", "ctest --test-dir build --output-on-failure"}},
      {{{"Cargo.toml", ""}}, {"cargo clippy --all-targets -- -D warnings", "cargo test"}},
      {{{"go.mod", ""}}, {"go vet ./...", "go test ./..."}},
      {{{"go.mod", ""}, {".golangci.yml", ""}}, {"golangci-lint run", "go test ./..."}},
      {{{"pyproject.toml", "[tool.ruff]\n[tool.mypy]\n[tool.pytest.ini_options]\n"}},
       {"ruff check .", "mypy .", "pytest"}},
      {{{"pyproject.toml", "[project]\n"}}, {}},
      {{{"pyproject.toml", "[tool.ruff.lint]\n"}, {"uv.lock", ""}, {"tests/conftest.py", ""}},
       {"uv run ruff check .", "uv run pytest"}},
      {{{"setup.py", ""}, {"tox.ini", "[tox]\n[testenv]\n"}}, {"tox"}},
      {{{"tox.ini", "[tox]\n[pytest]\n"}}, {"pytest"}},
      {{{"build.gradle.kts", ""}, {"gradlew", ""}}, {"./gradlew check"}},
      {{{"pom.xml", ""}}, {"mvn -q verify"}},
      {{{"mix.exs", "{:credo, \"1.7\"}"}}, {"mix credo", "mix test"}},
      {{{"Gemfile", "gem 'rspec'\ngem 'rubocop'"}}, {"bundle exec rubocop", "bundle exec rspec"}},
  };
  for (const Row& row : rows) {
    std::string names;
    for (const auto& file : row.files) names += file.first + " ";
    EXPECT_EQ(suggested(row.files), row.commands) << names;
  }
}

TEST(ProjectScan, ATaskRunnerHidesTheToolsItWraps) {
  EXPECT_EQ(suggested({{"Makefile", "test:\n"}, {"go.mod", ""}}),
            (std::vector<std::string>{"go vet ./...", "make test"}));
}

TEST(ProjectScan, AProjectOfTwoLanguagesGetsBoth) {
  EXPECT_EQ(suggested({{"package.json", R"({"scripts": {"test": "x"}})"}, {"go.mod", ""}}),
            (std::vector<std::string>{"go vet ./...", "npm run test", "go test ./..."}));
}

TEST(ProjectScan, TheSetupMatchesTheProjectsTools) {
  const std::pair<std::vector<std::string>, std::string> rows[] = {
      {{}, ""},
      {{"package.json"}, ""},
      {{"package.json", "package-lock.json"}, "npm ci"},
      {{"package-lock.json", "npm-shrinkwrap.json"}, "npm ci"},
      {{"requirements.txt"}, "pip install -r requirements.txt"},
      {{"Cargo.toml", "go.mod"}, "cargo fetch && go mod download"},
  };
  for (const auto& [files, setup] : rows) {
    std::string name = testing::TempDir() + "scan XXXXXX";
    const std::string project = ::mkdtemp(name.data());
    for (const std::string& file : files) EXPECT_TRUE(write_file_atomically(project + "/" + file, ""));
    EXPECT_EQ(suggest_setup(project), setup);
    std::filesystem::remove_all(project);
  }
}

TEST(ProjectScan, APipeNamedMakefileDoesNotHangIt) {
  std::string name = testing::TempDir() + "scan XXXXXX";
  const std::string project = ::mkdtemp(name.data());
  ASSERT_EQ(::mkfifo((project + "/Makefile").c_str(), 0600), 0);
  EXPECT_TRUE(suggest_guardrails(project).empty());
  std::filesystem::remove_all(project);
}

}  // namespace
}  // namespace ralph
