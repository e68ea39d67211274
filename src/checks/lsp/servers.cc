#include "checks/lsp/servers.h"

#include <algorithm>

#include "base/text.h"
#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::lsp {
namespace {

using View = std::string_view;

constexpr Language kCpp[] = {{".c", "c"},     {".cc", "cpp"},        {".cpp", "cpp"},         {".cxx", "cpp"},
                             {".c++", "cpp"}, {".h", "cpp"},         {".hh", "cpp"},          {".hpp", "cpp"},
                             {".hxx", "cpp"}, {".m", "objective-c"}, {".mm", "objective-cpp"}};
constexpr Language kPython[] = {{".py", "python"}, {".pyi", "python"}};
constexpr Language kGo[] = {{".go", "go"}};
constexpr Language kRust[] = {{".rs", "rust"}};
constexpr Language kTypescript[] = {{".ts", "typescript"},  {".tsx", "typescriptreact"}, {".mts", "typescript"},
                                    {".cts", "typescript"}, {".js", "javascript"},       {".jsx", "javascriptreact"},
                                    {".mjs", "javascript"}, {".cjs", "javascript"}};

// Without --sync it publishes diagnostics for a new text with the old headers first, and again for the same version
// once it has read the new ones. Precompiled headers stay in memory, so a killed server leaves no files behind.
constexpr View kClangd[] = {"clangd", "--sync", "--pch-storage=memory", "--background-index=false", "--log=error"};
constexpr View kPyright[] = {"pyright-langserver", "--stdio"};
constexpr View kGopls[] = {"gopls"};
constexpr View kRustAnalyzer[] = {"rust-analyzer"};
constexpr View kTypescriptServer[] = {"typescript-language-server", "--stdio"};

constexpr View kCppSetup[] = {"compile_flags.txt", ".clangd"};
constexpr View kPythonSetup[] = {"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"};
constexpr View kGoSetup[] = {"go.mod", "go.work"};
constexpr View kRustSetup[] = {"Cargo.toml", "rust-project.json"};
constexpr View kTypescriptSetup[] = {"tsconfig.json", "jsconfig.json"};

constexpr View kCppWatched[] = {"compile_commands.json", "compile_flags.txt", ".clangd", ".clang-tidy"};
constexpr View kPythonWatched[] = {"pyrightconfig.json", "pyproject.toml"};
constexpr View kGoWatched[] = {"go.mod", "go.sum", "go.work"};
constexpr View kRustWatched[] = {"Cargo.toml", "Cargo.lock", "rust-project.json", "rust-analyzer.toml"};
constexpr View kTypescriptWatched[] = {"tsconfig.json", "jsconfig.json", "package.json"};

constexpr View kCppReplaces[] = {"gcc", "clang", "clang-tidy"};
constexpr View kPythonReplaces[] = {"pyright", "mypy"};
constexpr View kGoReplaces[] = {"go-vet"};
constexpr View kRustReplaces[] = {"cargo-check", "clippy"};
constexpr View kTypescriptReplaces[] = {"tsc"};

constexpr ServerRow kServers[] = {
    {"clangd", kClangd, kCpp, kCppSetup, "compile_commands.json", kCppWatched, kCppReplaces, FinalAnswer::kAnswer, "",
     "", "apt install clangd"},
    {"pyright-langserver", kPyright, kPython, kPythonSetup, "", kPythonWatched, kPythonReplaces, FinalAnswer::kAnswer,
     "", R"({"python.analysis": {"diagnosticMode": "openFilesOnly"}})", "npm install pyright, or pip install pyright"},
    // What it publishes first lacks its analyses, which follow for the same version. Its answers are complete.
    {"gopls", kGopls, kGo, kGoSetup, "", kGoWatched, kGoReplaces, FinalAnswer::kPulled, R"({"pullDiagnostics": true})",
     R"({"gopls": {"pullDiagnostics": true}})", "go install golang.org/x/tools/gopls@latest"},
    {"rust-analyzer", kRustAnalyzer, kRust, kRustSetup, "", kRustWatched, kRustReplaces, FinalAnswer::kFlycheck,
     R"({"checkOnSave": true})", R"({"rust-analyzer": {"checkOnSave": true}})", "rustup component add rust-analyzer"},
    {"typescript-language-server", kTypescriptServer, kTypescript, kTypescriptSetup, "", kTypescriptWatched,
     kTypescriptReplaces, FinalAnswer::kTsserver, "", "", "npm install typescript-language-server typescript"},
};

}  // namespace

std::span<const ServerRow> all_servers() {
  return kServers;
}

const ServerRow* server_named(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kServers), std::end(kServers), [&](const ServerRow& row) { return row.name == name; });
  return found == std::end(kServers) ? nullptr : found;
}

std::string_view language_of(const ServerRow& row, std::string_view path) {
  for (const Language& language : row.languages) {
    if (path.ends_with(language.ending)) return language.id;
  }
  return {};
}

std::vector<std::string_view> endings_of(const ServerRow& row) {
  std::vector<std::string_view> endings;
  for (const Language& language : row.languages) endings.push_back(language.ending);
  return endings;
}

std::vector<std::string> command_of(const ServerRow& row, const diagnostics::ProjectView& project) {
  std::string program = project.tool(row.argv[0]);
  for (int version = 30; program.empty() && row.name == "clangd" && version >= 11; --version)
    program = project.tool(fmt::format("clangd-{}", version));  // Debian's names
  if (program.empty()) return {};
  std::vector<std::string> argv = {std::move(program)};
  for (const std::string_view word : row.argv.subspan(1)) argv.emplace_back(word);
  if (row.database.empty()) return argv;
  if (const std::string path = diagnostics::in_build_folder(project, row.database); !path.empty())
    argv.push_back(fmt::format("--compile-commands-dir={}", parent_path(join_path(project.root(), path))));
  return argv;
}

bool is_for(const ServerRow& row, const diagnostics::ProjectView& project) {
  const std::vector<std::string_view> endings = endings_of(row);
  if (project.files_ending(endings).empty()) return false;
  return std::any_of(row.configured_by.begin(), row.configured_by.end(),
                     [&](std::string_view file) { return project.has(file); }) ||
         (!row.database.empty() && !diagnostics::in_build_folder(project, row.database).empty());
}

}  // namespace ralph::lsp
