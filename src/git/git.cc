#include "git/git.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "git/config_file.h"
#include "os/files.h"
#include "os/run_command.h"

namespace ralph {
namespace {

// Settings for every call: they disable programs that the repository could name, and whatever could hide a change.
constexpr std::array kSettings = {
    "core.hooksPath=/dev/null", "core.fsmonitor=false",         "core.trustctime=true",
    "core.checkStat=default",   "core.sshCommand=false",        "core.alternateRefsCommand=",
    "commit.gpgSign=false",     "log.showSignature=false",      "gc.auto=0",
    "submodule.recurse=false",  "safe.bareRepository=explicit", "core.untrackedCache=false",
};

// By name, "filter.lfs.clean".
using Filters = std::map<std::string, std::string>;

// The filters in all settings that git reads in this folder; "/": only the user's and the system's.
Filters filters_in(const std::string& program, const std::string& folder) {
  Filters filters;
  Launch launch;
  launch.argv = {program, "config", "-z", "--includes", "--get-regexp", "^filter\\."};
  launch.environment = Environment::of_this_process();
  if (folder == "/") launch.environment.set("GIT_DIR", "/dev/null");  // no repository
  launch.folder = folder;
  const auto answer = ask_command(std::move(launch), Milliseconds(10000), kGitOutput);
  if (!answer || answer->exit_code != 0) return filters;
  for (const std::string& entry : split(answer->output, '\0')) {
    const size_t end = std::min(entry.find('\n'), entry.size());
    if (!entry.empty()) filters[entry.substr(0, end)] = entry.substr(std::min(end + 1, entry.size()));
  }
  return filters;
}

// Read only once.
const Filters& users_filters(const std::string& program) {
  static const Filters known = filters_in(program, "/");
  return known;
}

// The filters that the repository's own configuration names. git may resolve an included path differently than we do
// (~user/x, %(prefix)/x, /proc/self/cwd/x), so git is asked what it finds there.
std::vector<ConfigEntry> own_filters(const std::string& program, const std::string& folder) {
  std::vector<ConfigEntry> entries = repository_config(folder);
  const bool includes = std::ranges::any_of(entries, [](const ConfigEntry& entry) {
    return entry.name == "path" && (entry.section == "include" || entry.section == "includeif");
  });
  for (const auto& [name, value] : includes ? filters_in(program, folder) : Filters()) {
    const size_t first = name.find('.'), last = name.rfind('.');
    if (last == first) continue;
    entries.push_back({"filter", name.substr(first + 1, last - first - 1), name.substr(last + 1), value, true});
  }
  return entries;
}

// The settings that replace the repository's filters with the user's own, or with none.
Result<std::vector<std::string>> without_own_filters(const std::string& program, const std::string& folder) {
  constexpr std::array<std::string_view, 4> kNames = {"clean", "smudge", "process", "required"};
  std::vector<std::string> settings;
  for (const ConfigEntry& entry : own_filters(program, folder)) {
    if (entry.section != "filter" || !entry.has_subsection || !is_one_of(entry.name, kNames)) continue;
    const std::string key = entry.key();
    if (key.find('=') != std::string::npos) {
      return fail(ErrorKind::kInput,
                  "the git configuration of {} has a filter with '=' in its name ({}), which ralph can't switch off; "
                  "rename it, or remove it with: git config --remove-section 'filter.{}'",
                  folder, key, entry.subsection);
    }
    const auto& users = users_filters(program);
    const auto found = users.find(key);
    const std::string none = entry.name == "required" ? "false" : "";
    std::string setting = key + "=" + (found == users.end() ? none : found->second);
    if (std::find(settings.begin(), settings.end(), setting) == settings.end()) settings.push_back(std::move(setting));
  }
  return settings;
}

// Inserts, after the subcommand, the options that keep it from running a program.
void add_words(std::vector<std::string>& argv, const std::vector<std::string>& words) {
  size_t verb = 0;
  while (verb + 2 < words.size() && (words[verb] == "-c" || words[verb] == "-C")) verb += 2;
  for (size_t i = 0; i < words.size(); ++i) {
    argv.push_back(words[i]);
    if (i != verb) continue;
    if (words[i] == "diff") argv.insert(argv.end(), {"--no-ext-diff", "--no-textconv"});
    if (words[i] == "diff" || words[i] == "status") argv.emplace_back("--ignore-submodules=dirty");
  }
}

// The search path for git and the programs that it starts: without relative entries, and with those inside the current
// project at the end.
const std::string& own_search_path() {
  static const std::string path = [] {
    std::vector<std::string> entries = split(Environment::of_this_process().get("PATH").value_or(""), ':');
    std::erase_if(entries, [](const std::string& entry) { return !entry.starts_with('/'); });
    const std::string all = join(entries, ":");
    for (std::string at = current_directory().value_or("/"); at != "/" && !at.empty(); at = parent_path(at))
      if (path_exists(join_path(at, ".git")) || path_exists(join_path(at, ".ralph")))
        return path_with_project_last(all, at);
    return all;
  }();
  return path;
}

}  // namespace

Result<std::string> git_program() {
  static const Result<std::string> found = [] {
    Environment environment = Environment::of_this_process();
    environment.set("PATH", own_search_path());
    return resolve_program("git", environment, "/");
  }();
  return found;
}

Result<GitCommand> own_call(const GitPlace& place, const std::vector<std::string>& words) {
  std::string program = place.program;
  if (program.empty() || program == "git") {
    TRY_VALUE(program, git_program());
  }
  TRY_VALUE(const std::vector<std::string> filters, without_own_filters(program, place.folder));
  GitCommand command{{program, "--no-pager", "--literal-pathspecs", "--no-replace-objects"}, {}};
  for (const char* setting : kSettings) command.argv.insert(command.argv.end(), {"-c", setting});
  for (const std::string& setting : filters) command.argv.insert(command.argv.end(), {"-c", setting});
  add_words(command.argv, words);
  command.environment = {
      {"LC_ALL", "C"},  // errors are recognised by their wording
      {"GIT_TERMINAL_PROMPT", "0"},
      {"GIT_EDITOR", ":"},
      {"GIT_ALLOW_PROTOCOL", place.protocols.empty() ? "none" : place.protocols},
      {"GIT_OPTIONAL_LOCKS", "0"},    // a person may be working in the same tree
      {"GIT_GRAFT_FILE", kNoGrafts},  // grafts would make commits descend from others
      {"PATH", own_search_path()},
  };
  if (!place.work_tree.empty()) command.environment.emplace_back("GIT_WORK_TREE", place.work_tree);
  return command;
}

bool is_git(const std::string& command) {
  return base_name(command) == "git";
}

Git plain_git(GitPlace place, Environment environment, Milliseconds limit) {
  return [place = std::move(place), environment = std::move(environment),
          limit](const std::vector<std::string>& words) -> Result<GitEnd> {
    TRY_VALUE(GitCommand command, own_call(place, words));
    Launch launch;
    launch.argv = std::move(command.argv);
    launch.environment = environment;
    for (auto& [name, value] : command.environment) launch.environment.set(name, value);
    launch.folder = place.folder;
    TRY_VALUE(CommandResult answer, ask_command(std::move(launch), limit, kGitOutput));
    return GitEnd{answer.exit_code, std::move(answer.output), std::move(answer.errors), answer.cut};
  };
}

Git plain_git(const std::string& folder) {
  return plain_git(GitPlace{folder}, Environment::of_this_process());
}

}  // namespace ralph
