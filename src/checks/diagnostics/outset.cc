#include "checks/diagnostics/outset.h"

#include <algorithm>
#include <sys/stat.h>

#include "base/sha256.h"
#include "base/text.h"
#include "checks/diagnostics/tools.h"
#include "checks/file_facts.h"
#include "git/dot_git.h"
#include "git/project_files.h"
#include "os/clock.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

constexpr std::string_view kSourceEndings[] = {".py",  ".pyi", ".js",  ".jsx", ".mjs", ".cjs", ".ts",   ".tsx",
                                               ".mts", ".cts", ".vue", ".go",  ".rs",  ".c",   ".cc",   ".cpp",
                                               ".cxx", ".h",   ".hh",  ".hpp", ".hxx", ".sh",  ".bash", ".svelte"};

// Programs that collectors search for in the project itself (ProjectView::tool).
constexpr std::string_view kPrograms[] = {"ruff",
                                          "mypy",
                                          "pyright",
                                          "tsc",
                                          "eslint",
                                          "biome",
                                          "go",
                                          "cargo",
                                          "ast-grep",
                                          "clang-tidy",
                                          "shellcheck",
                                          "pytest",
                                          "npm",
                                          "jest",
                                          "vitest",
                                          "ctest",
                                          "cmake",
                                          "cargo-clippy",
                                          "clangd",
                                          "pyright-langserver",
                                          "gopls",
                                          "rust-analyzer",
                                          "typescript-language-server"};
constexpr std::string_view kProgramFolders[] = {"node_modules/.bin", ".venv/bin", "venv/bin"};

struct OutsetReader {
  std::string_view collector, files;  // names, separated by spaces; a name may contain a star
  std::string_view sources{};         // endings of the files it checks, if a configuration file makes it apply
};
constexpr OutsetReader kOutsetReaders[] = {
    {"ruff", "ruff.toml .ruff.toml pyproject.toml"},
    {"mypy", "mypy.ini .mypy.ini setup.cfg pyproject.toml", ".py .pyi"},
    {"pyright", "pyrightconfig.json pyproject.toml", ".py .pyi"},
    {"tsc", "tsconfig*.json", ".ts .tsx .mts .cts"},
    {"eslint", "eslint.config.* .eslintrc* .eslintignore package.json",
     ".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte"},
    {"biome", "biome.json biome.jsonc", ".js .jsx .mjs .cjs .ts .tsx .mts .cts"},
    {"go-vet", "go.mod go.work", ".go"},
    {"go-test", "go.mod go.work"},
    {"cargo-check", "Cargo.toml config.toml", ".rs"},
    {"clippy", "Cargo.toml clippy.toml .clippy.toml config.toml", ".rs"},
    {"cargo-test", "Cargo.toml config.toml"},
    {"gcc", "compile_commands.json", ".c .cc .cpp .cxx"},
    {"clang", "compile_commands.json", ".c .cc .cpp .cxx"},
    {"clang-tidy", "compile_commands.json .clang-tidy", ".c .cc .cpp .cxx"},
    {"clangd", "compile_commands.json compile_flags.txt .clangd .clang-tidy"},
    {"pyright-langserver", "pyrightconfig.json pyproject.toml"},
    {"gopls", "go.mod go.work"},
    {"rust-analyzer", "Cargo.toml config.toml rust-project.json rust-analyzer.toml .rust-analyzer.toml"},
    {"typescript-language-server", "tsconfig*.json jsconfig*.json"},
    {"shellcheck", ".shellcheckrc shellcheckrc"},
    {"ast-grep", "sgconfig.yml sgconfig.yaml"},
    {"pytest", "pytest.ini .pytest.ini tox.ini setup.cfg pyproject.toml conftest.py"},
    {"vitest", "vitest.config.* vite.config.* vitest.workspace.*"},
    {"jest", "jest.config.* package.json"},
    {"npm-test", "package.json"},
    {"ctest", "CMakeLists.txt"},
};

bool fits(std::string_view name, std::string_view pattern) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

bool reads(std::string_view collector, const std::string& path) {
  const std::string name = base_name(path);
  if (name == "config.toml" && !path.ends_with(".cargo/config.toml")) return false;
  for (const OutsetReader& reader : kOutsetReaders) {
    if (reader.collector != collector) continue;
    for (const std::string& pattern : split(reader.files, ' ')) {
      if (fits(name, pattern)) return true;
    }
  }
  return false;
}

// Which of these reads the file; empty if none does. "git" for ignore files, because most tools leave out what git
// ignores.
std::string reader_of(const std::string& path, std::span<const PlannedCollector> planned) {
  const std::string name = base_name(path);
  // Tools put a .gitignore that ignores everything into their caches: .ruff_cache/.gitignore.
  if (name == ".gitignore" && (name == path || !base_name(parent_path(path)).starts_with('.'))) return "git";
  if (path == kOwnExcludes) return "git";
  for (const PlannedCollector& one : planned) {
    if (reads(one.name, path)) return one.name;
  }
  return {};
}

// By path: its hash and the tool that reads it.
using Configuration = std::map<std::string, std::pair<std::string, std::string>>;

// Many tools also search for their configuration in parent folders.
std::vector<std::string> names_above(const ProjectView& project, std::span<const PlannedCollector> planned) {
  std::vector<std::string> paths;
  std::string up = "../";
  for (std::string folder = project.root(); folder.size() > 1; folder = parent_path(folder), up += "../") {
    for (const OutsetReader& reader : kOutsetReaders) {
      const bool asked = std::any_of(planned.begin(), planned.end(),
                                     [&](const PlannedCollector& one) { return one.name == reader.collector; });
      if (!asked) continue;
      for (const std::string& name : split(reader.files, ' ')) {
        if (!contains(name, "*")) paths.push_back(up + name);
      }
    }
  }
  return paths;
}

Configuration configuration_of(const ProjectView& project, std::span<const PlannedCollector> planned, bool room) {
  Configuration found;
  const auto add = [&](const std::string& path) {
    if (path.empty() || found.contains(path)) return;
    const std::string reader = reader_of(path, planned);
    if (reader.empty() || !project.has(path)) return;
    found[path] = {sha256_hex(read_file(join_path(project.root(), path)).value_or("")), reader};
  };
  for (const std::string& path : project.files()) add(path);
  for (const std::string& name : names_in(project.root())) add(name);  // including ignored ones
  for (const std::string_view path : {kOwnExcludes, std::string_view(".cargo/config.toml")}) add(std::string(path));
  add(in_build_folder(project, "compile_commands.json"));
  if (!room) {
    for (const std::string& path : names_above(project, planned)) add(path);
  }
  return found;
}

std::string stamp_of(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? stamp_of_file(info) : "";
}

std::string hash_of(const std::string& path) {
  return sha256_hex(read_file(path).value_or(""));
}

std::string path_in_project(const std::string& program, const ProjectView& project) {
  return program.starts_with(project.root() + "/") ? program.substr(project.root().size() + 1) : "";
}

std::vector<std::string> programs_of(const PlannedCollector& planned) {
  std::vector<std::string> all;
  for (const ToolCommand& command : planned.plan.commands) {
    const std::string& program = command.starts.empty() ? command.argv.front() : command.starts;
    if (!is_one_of(program, all)) all.push_back(program);
  }
  return all;
}

void remember_program(Outset& outset, const ProjectView& project, const std::string& path) {
  const std::string full = join_path(project.root(), path);
  if (!path.empty() && !outset.programs.contains(path) && is_executable_file(full))
    outset.programs[path] = fmt::format("{} {}", hash_of(full), stamp_of(full));
}

bool is_as_it_was(const Outset& outset, const ProjectView& project, const std::string& path) {
  const auto known = outset.programs.find(path);
  if (known == outset.programs.end()) return false;
  const std::string full = join_path(project.root(), path);
  return known->second.ends_with(" " + stamp_of(full)) || known->second.starts_with(hash_of(full) + " ");
}

// The first program that can't be trusted; empty if all can.
std::string untrusted_program(const Outset& outset, const ProjectView& project, const PlannedCollector& planned,
                              bool room) {
  const auto known = outset.tools.find(planned.name);
  for (const std::string& program : programs_of(planned)) {
    if (const std::string path = path_in_project(program, project); !path.empty()) {
      if (is_as_it_was(outset, project, path)) continue;
      // Files that the user's setup created in a checkout are not part of the commit.
      const auto listed = room ? files_known_to_git(project.root(), project.environment()) : std::nullopt;
      if (listed && !std::binary_search(listed->begin(), listed->end(), path)) continue;
      return program;
    }
    if (room || known == outset.tools.end() || is_one_of(program, known->second)) continue;
    // Another system compiler is fine, but not a system program in place of one from the project.
    const bool was_outside = std::any_of(known->second.begin(), known->second.end(),
                                         [&](const std::string& one) { return path_in_project(one, project).empty(); });
    const bool on_path =
        resolve_program(base_name(program), project.environment(), project.root()).value_or("") == program;
    if (!was_outside || !on_path) return program;
  }
  return {};
}

bool is_source(std::string_view path) {
  return std::any_of(std::begin(kSourceEndings), std::end(kSourceEndings),
                     [&](std::string_view e) { return path.ends_with(e); });
}

bool is_in(const std::vector<std::string>& sorted, const std::string& one) {
  return std::binary_search(sorted.begin(), sorted.end(), one);
}

// The project's sources that are marked as generated.
std::vector<std::string> generated_sources(const ProjectView& project) {
  std::vector<std::string> found;
  for (const std::string& path : project.files()) {
    if (is_source(path) && project.is_marked_generated(path)) found.push_back(path);
  }
  return found;
}

// Whether there are still files that the collector would check if it were configured.
bool has_sources_for(std::string_view collector, const ProjectView& project) {
  for (const OutsetReader& reader : kOutsetReaders) {
    if (reader.collector != collector || reader.sources.empty()) continue;
    const std::vector<std::string> endings = split(reader.sources, ' ');
    const std::vector<std::string_view> views(endings.begin(), endings.end());
    return !project.files_ending(views).empty();
  }
  return false;
}

long long milliseconds_now() {
  return SystemClock().wall().time_since_epoch().count();
}

// The collectors of the table that were asked when the loop began but do not apply now.
std::vector<PlannedCollector> gone_since(const Outset& outset, std::span<const PlannedCollector> planned) {
  std::vector<PlannedCollector> gone;
  for (const auto& [name, programs] : outset.tools) {
    const Collector* known = collector_named(name);
    const bool path_exists =
        std::any_of(planned.begin(), planned.end(), [&](const PlannedCollector& one) { return one.name == name; });
    if (!known || path_exists) continue;
    gone.emplace_back().name = name;
    gone.back().kind = known->kind;
  }
  return gone;
}

// Which of its configuration files have changed; empty if it simply has nothing left to check.
std::string why_gone(const Outset& outset, const ProjectView& project, const Configuration& now,
                     const PlannedCollector& gone, bool room) {
  std::vector<std::string> different;
  for (const auto& [path, hash] : outset.configuration) {
    if (!reads(gone.name, path) || (room && !is_in(outset.committed, path))) continue;
    const auto found = now.find(path);
    if (found == now.end()) different.push_back(path + " was deleted");
    if (found != now.end() && found->second.first != hash) different.push_back(path + " was changed");
  }
  // A checkout may lack build results that some runners need.
  if (gone.kind == Kind::kTests && !room) return different.empty() ? "nothing here is for it" : join(different, ", ");
  return gone.kind == Kind::kTests || has_sources_for(gone.name, project) ? join(different, ", ") : "";
}

// Whether every runner finished and reported how many tests it ran. A single one that does not count makes the total
// unknown.
bool counts_all_tests(const Report& report) {
  return std::all_of(report.collectors.begin(), report.collectors.end(), [](const CollectorResult& one) {
    return one.kind != Kind::kTests || (one.finished() && one.tests);
  });
}

}  // namespace

Outset outset_of(const ProjectView& project, std::span<const PlannedCollector> planned) {
  Outset outset;
  outset.taken = true;
  for (const std::string_view folder : kProgramFolders) {
    for (const std::string_view name : kPrograms) remember_program(outset, project, join_path(folder, name));
  }
  for (const PlannedCollector& one : planned) {
    outset.tools[one.name] = programs_of(one);
    for (const std::string& program : outset.tools[one.name])
      remember_program(outset, project, path_in_project(program, project));
  }
  for (const auto& [path, facts] : configuration_of(project, planned, false)) outset.configuration[path] = facts.first;
  outset.generated = generated_sources(project);
  outset.times.look(project, planned, milliseconds_now());
  // Untracked files may be build output, which may legitimately become ignored.
  for (std::string& path :
       files_tracked_by_git(project.root(), project.environment()).value_or(std::vector<std::string>())) {
    if (outset.configuration.contains(path)) outset.committed.push_back(path);
    if (is_source(path) && !project.leaves_out(path)) outset.judged.push_back(std::move(path));
  }
  outset.ignored = tracked_files_named_as_ignored(project.root(), project.environment());
  return outset;
}

OutsetChanges compare_with_outset(Outset& outset, const ProjectView& project, std::vector<PlannedCollector>& planned,
                                  std::string_view loop, bool room) {
  OutsetChanges since;
  const auto tell = [&](std::string path, std::string what, std::string note, const std::string& version) {
    std::string key = fmt::format("{} {} {}", path, what, version);
    if (is_one_of(key, outset.reported)) return;
    outset.reported.push_back(std::move(key));
    since.changed.push_back({std::move(path), std::move(what), std::move(note)});
  };

  const std::vector<PlannedCollector> gone = gone_since(outset, planned);
  std::vector<PlannedCollector> asked = planned;
  asked.insert(asked.end(), gone.begin(), gone.end());
  const Configuration now = configuration_of(project, asked, room);
  for (const auto& [path, facts] : now) {
    const auto before = outset.configuration.find(path);
    if (before != outset.configuration.end() && before->second == facts.first) continue;
    tell(path, before == outset.configuration.end() ? "created" : "changed", facts.second + " reads it", facts.first);
  }
  for (const auto& [path, hash] : outset.configuration) {
    const std::string reader = reader_of(path, asked);
    // A checkout contains only committed files.
    if ((!room || is_in(outset.committed, path)) && !reader.empty() && !now.contains(path))
      tell(path, "deleted", reader + " reads it", "");
  }
  for (const PlannedCollector& one : gone) {
    if (std::string why = why_gone(outset, project, now, one, room); !why.empty())
      since.unjudged.push_back({one.kind, fmt::format("{}: it was asked when the {} began, and does not apply now: {}",
                                                      one.name, loop, why)});
  }

  for (PlannedCollector& one : planned) {
    const std::string program = untrusted_program(outset, project, one, room);
    if (program.empty()) continue;
    one.plan.commands.clear();
    one.plan.missing = fmt::format("{} is not the program that was there when the {} began", program, loop);
  }

  for (const std::string& path : generated_sources(project)) {
    if (is_in(outset.generated, path)) continue;
    tell(path, "marked as generated",
         "it did not say so when the " + std::string(loop) + " began; it is judged all the same", "");
  }
  const std::vector<std::string> set_back =
      room ? std::vector<std::string>() : outset.times.look(project, planned, milliseconds_now());
  for (const std::string& path : set_back) {
    for (const PlannedCollector& one : planned) {
      if (!relies_on_mtime_of(one, path)) continue;
      tell(path, "changed", fmt::format("its time says that it was not, and {} goes by that", one.name), "");
      since.unjudged.push_back(
          {one.kind, fmt::format("{}: it was changed, but its time says that it was not, and {} goes "
                                 "by that; touch it",
                                 path, one.name)});
    }
  }
  // Tools don't consult git's index: a tracked file that a .gitignore names is hidden from them, too.
  const std::vector<std::string> named = tracked_files_named_as_ignored(project.root(), project.environment());
  for (const std::string& path : outset.judged) {
    if (project.is_ignored(path)) {
      tell(path, "hidden from the tools", "git ignores it now, and it was judged before", "");
      since.unjudged.push_back({Kind::kErrors, fmt::format("{}: it was judged before, and git ignores it now", path)});
    } else if (is_in(named, path) && !is_in(outset.ignored, path) && project.has(path)) {
      tell(path, "hidden from the tools", "an ignore file names it now, and it was judged before", "");
      since.unjudged.push_back(
          {Kind::kErrors,
           fmt::format("{}: it was judged before, and .gitignore, .git/info/exclude, .ignore or the like names it now",
                       path)});
    }
  }
  return since;
}

std::optional<Unjudged> fewer_tests(const Outset& outset, const Report& report, std::string_view loop) {
  const auto now = static_cast<int>(report.tests().executed());
  if (!counts_all_tests(report) || now >= outset.tests) return std::nullopt;
  return Unjudged{Kind::kTests,
                  fmt::format("fewer tests: {} ran, and {} did when the {} began", now, outset.tests, loop)};
}

void remember_times(Outset& outset, const ProjectView& project, std::span<const PlannedCollector> planned) {
  outset.times.look(project, planned, milliseconds_now());
}

void remember_found(Outset& outset, const Report& report) {
  if (outset.tests == 0 && counts_all_tests(report)) outset.tests = static_cast<int>(report.tests().executed());
  for (const Finding& finding : report.findings) {
    if (finding.category == Category::kTest || finding.file.empty()) continue;
    const auto place = std::lower_bound(outset.judged.begin(), outset.judged.end(), finding.file);
    if (place == outset.judged.end() || *place != finding.file) outset.judged.insert(place, finding.file);
  }
}

std::vector<SuspectFile> suspects_among(std::span<const std::string> edited, const ProjectView& project,
                                        std::span<const PlannedCollector> planned) {
  std::vector<SuspectFile> found;
  for (const std::string& path : edited) {
    const bool program = std::any_of(std::begin(kProgramFolders), std::end(kProgramFolders),
                                     [&](std::string_view folder) { return parent_path(path) == folder; });
    if (const std::string reader = reader_of(path, planned); !reader.empty()) {
      found.push_back({path, "edited", reader + " reads it"});
    } else if (program) {
      found.push_back({path, "edited", "it is a tool of the project"});
    } else if (project.is_newly_marked(path)) {
      found.push_back({path, "marked as generated", "it is judged all the same"});
    }
  }
  return found;
}

}  // namespace ralph::diagnostics
