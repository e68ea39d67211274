// gcc and clang, run from compile_commands.json: each file with its own options but without output. clang-tidy
// likewise.
#include <set>

#include "checks/diagnostics/collectors.h"
#include "checks/diagnostics/tools.h"
#include "os/files.h"

namespace ralph::diagnostics {
namespace {

struct CompileCommand {
  std::string file;  // relative to the project
  std::string folder;
  std::vector<std::string> argv;  // starts with the compiler
};

enum class Family { kOther, kGcc, kClang };

// "arm-none-eabi-g++-12", "clang++", "cc".
Family family_of(std::string_view program) {
  std::string name = base_name(program);
  while (!name.empty() && (name.back() == '.' || (name.back() >= '0' && name.back() <= '9'))) name.pop_back();
  if (name.ends_with('-')) name.pop_back();
  if (const size_t dash = name.rfind('-'); dash != std::string::npos) name = name.substr(dash + 1);
  if (is_one_of(name, {"clang", "clang++"})) return Family::kClang;
  return is_one_of(name, {"gcc", "g++", "cc", "c++"}) ? Family::kGcc : Family::kOther;
}

std::vector<std::string> argv_of(const json::value& entry) {
  std::vector<std::string> argv;
  for (const json::value& word : array_at(entry, "arguments")) {
    if (word.is_string()) argv.emplace_back(std::string_view(word.get_string()));
  }
  if (argv.empty()) argv = split_shell_words(text_at(entry, {"command"})).value_or(std::vector<std::string>{});
  while (!argv.empty() && is_one_of(base_name(argv.front()), {"ccache", "sccache", "distcc"})) argv.erase(argv.begin());
  return argv;
}

std::string database_of(const ProjectView& project) {
  return in_build_folder(project, "compile_commands.json");
}

Result<std::vector<CompileCommand>> commands_in(const ProjectView& project, const Scope& scope) {
  std::vector<CompileCommand> all;
  const std::string path = database_of(project);
  if (path.empty()) return all;
  TRY_VALUE(const std::string text, read_file(join_path(project.root(), path)));
  TRY_VALUE(const json::value database, parse_json(text, path));
  if (!database.is_array()) return fail(ErrorKind::kInput, "{}: this is not a list of commands", path);
  std::set<std::string> seen;
  for (const json::value& entry : database.get_array()) {
    CompileCommand command;
    command.folder = absolute_path(text_at(entry, {"directory"}), project.root());
    command.file = project.relative(text_at(entry, {"file"}), command.folder);
    command.argv = argv_of(entry);
    if (command.file.empty() || command.argv.empty() || !project.has(command.file)) continue;
    const bool asked = scope.whole() || is_one_of(command.file, scope.files);
    if (!asked || project.leaves_out(command.file) || !seen.insert(command.file).second) continue;
    all.push_back(std::move(command));
  }
  return all;
}

// The words of a compile command, without those that write output.
std::vector<std::string> only_syntax(const std::vector<std::string>& argv, Family family) {
  std::vector<std::string> words;
  for (size_t i = 0; i < argv.size(); ++i) {
    if (is_one_of(argv[i], {"-o", "-MF", "-MT", "-MQ", "-MJ"})) {
      ++i;
      continue;
    }
    if (is_one_of(argv[i], {"-c", "-MD", "-MMD", "-MP", "-M", "-MM"}) || starts_with_any(argv[i], {"-o", "-MF"}))
      continue;
    words.push_back(argv[i]);
  }
  words.emplace_back("-fsyntax-only");
  if (family == Family::kClang) {
    words.insert(words.end(), {"-fno-caret-diagnostics", "-fno-color-diagnostics", "-ferror-limit=0"});
  } else {
    words.insert(words.end(), {"-fno-diagnostics-show-caret", "-fdiagnostics-color=never"});
  }
  return words;
}

// It is unknown which compiler an unreadable database is for, so the collector applies if there is any source for it.
CollectorPlan with_broken_database(const ProjectView& project, const Scope& scope, const Error& error) {
  if (files_for(project, scope, {".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm"}).empty())
    return CollectorPlan::not_used();
  CollectorPlan plan;
  plan.broken = error.message;
  return plan;
}

CollectorPlan plan_compiler(const ProjectView& project, const Scope& scope, Family family) {
  CollectorPlan plan;
  plan.compiles = true;
  std::set<std::string> missing;
  const auto commands = commands_in(project, scope);
  if (!commands) return with_broken_database(project, scope, commands.error());
  for (const CompileCommand& command : *commands) {
    if (family_of(command.argv.front()) != family) continue;
    if (!resolve_program(command.argv.front(), project.environment(), command.folder)) {
      missing.insert(command.argv.front());
      continue;
    }
    plan.commands.push_back(
        {only_syntax(command.argv, family), command.folder, {{"LC_ALL", "C"}, {"CCACHE_DISABLE", "1"}}});
  }
  if (!missing.empty()) return missing_tool(*missing.begin(), fmt::format("{} names it", database_of(project)));
  if (plan.commands.empty()) return CollectorPlan::not_used();
  return plan;
}

CollectorPlan plan_gcc(const ProjectView& project, const Scope& scope) {
  return plan_compiler(project, scope, Family::kGcc);
}
CollectorPlan plan_clang(const ProjectView& project, const Scope& scope) {
  return plan_compiler(project, scope, Family::kClang);
}

std::string find_clang_tidy(const ProjectView& project) {
  if (std::string found = project.tool("clang-tidy"); !found.empty()) return found;
  for (int version = 30; version >= 11; --version) {
    if (std::string found = project.tool(fmt::format("clang-tidy-{}", version)); !found.empty()) return found;
  }
  return {};
}

CollectorPlan plan_clang_tidy(const ProjectView& project, const Scope& scope) {
  if (!scope.named && !project.has(".clang-tidy")) return CollectorPlan::not_used();
  const auto all = commands_in(project, scope);
  if (!all) return with_broken_database(project, scope, all.error());
  if (all->empty()) return CollectorPlan::not_used();
  const std::string tidy = find_clang_tidy(project);
  if (tidy.empty()) return missing_tool("clang-tidy", "apt install clang-tidy");
  const std::string folder = parent_path(join_path(project.root(), database_of(project)));
  CollectorPlan plan;
  // It names files as the database does, relative to their compile folder.
  for (const CompileCommand& command : *all)
    plan.commands.push_back({{tidy, "-p", folder, "--quiet", join_path(project.root(), command.file)}, command.folder});
  return plan;
}

ParsedOutput parse_compiler(const ToolOutput& output) {
  ParsedOutput parsed;
  parsed.findings = parse_gnu(output.err);
  if (output.exit_code != 0 && !has_error(parsed.findings)) parsed.failure = "the compiler failed";
  return parsed;
}

ParsedOutput parse_clang_tidy(const ToolOutput& output) {
  ParsedOutput parsed;
  parsed.findings = parse_gnu(output.out);
  for (Finding& finding : parsed.findings) {
    // "[check,-warnings-as-errors]"
    finding.rule = finding.rule.substr(0, finding.rule.find(','));
    if (contains(finding.rule, "security") || finding.rule.starts_with("cert-")) finding.category = Category::kSecurity;
  }
  // If it can't read its configuration, it continues without one and exits with 0.
  if (contains(output.err, "Error parsing ")) parsed.failure = "clang-tidy can't read its configuration";
  if (output.exit_code != 0 && !has_error(parsed.findings)) parsed.failure = "clang-tidy failed";
  return parsed;
}

}  // namespace

constinit const Collector kGcc{"gcc", Kind::kErrors, plan_gcc, parse_compiler};
constinit const Collector kClang{"clang", Kind::kErrors, plan_clang, parse_compiler};
constinit const Collector kClangTidy{"clang-tidy", Kind::kErrors, plan_clang_tidy, parse_clang_tidy};

}  // namespace ralph::diagnostics
