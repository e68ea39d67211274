// Rules about git: shared history and uncommitted work.
#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "policy/command_view.h"
#include "policy/git_call.h"
#include "policy/rules.h"

namespace ralph {
namespace {

bool means_everything(const Subject& subject, const std::string& path) {
  if (path == ":/" || path == "*" || path == ":(top)" || path == ":/*") return true;
  for (const std::string& one : subject.paths(path)) {
    if (is_within(subject.place.project, one)) return true;
  }
  return false;
}

// https://x/y.git, git@x:y.git, ../y.git: not the name of a remote.
bool is_address(std::string_view word) {
  const size_t colon = word.find(':');
  const bool is_host =
      colon != std::string_view::npos && word.substr(0, colon).find_first_of("/+") == std::string_view::npos;
  return contains(word, "://") || is_host || word.starts_with('/') || word.starts_with('.') || word.starts_with('~');
}

// The host and path of an address. https://me@x/y.git and git@x:y give the same.
std::string place_of(std::string_view address) {
  const size_t scheme = address.find("://");
  if (scheme != std::string_view::npos) address.remove_prefix(scheme + 3);
  if (const size_t user = address.substr(0, address.find('/')).find('@'); user != std::string_view::npos)
    address.remove_prefix(user + 1);
  std::string place(address);
  if (const size_t colon = place.find(':'); scheme == std::string_view::npos && colon < place.find('/'))
    place[colon] = '/';
  if (place.ends_with('/')) place.pop_back();
  if (place.ends_with(".git")) place.resize(place.size() - 4);
  return place;
}

// Whether the project has a remote with this address.
bool is_remote(const Subject& subject, std::string_view address) {
  const std::vector<std::string> all = subject.place.remotes ? subject.place.remotes() : std::vector<std::string>();
  return std::ranges::any_of(all, [&](const std::string& one) { return place_of(one) == place_of(address); });
}

// Whether git runs the value of this setting, or is redirected by it.
bool is_run_by_git(std::string_view key) {
  const bool ends = key.ends_with(".smudge") || key.ends_with(".clean") || key.ends_with(".process") ||
                    key.ends_with(".textconv") || key.ends_with(".driver") || key.ends_with(".cmd") ||
                    (key.ends_with("command") && key != "sequence.command");
  return ends || is_listed("core.fsmonitor diff.external core.gitproxy uploadpack.packobjectshook", key);
}

// The key and value in `git config [set] [options] KEY VALUE`.
struct Setting {
  std::string key, value;
};
std::optional<Setting> setting_of(const GitCall& call) {
  std::vector<std::string> operands;
  for (size_t i = 0; i < call.words.size(); ++i) {
    if (is_listed("-f --file --blob --type --default --comment --value", call.words[i])) {
      ++i;
    } else if (!call.words[i].starts_with('-')) {
      operands.push_back(call.words[i]);
    }
  }
  if (!operands.empty() && operands[0] == "set") operands.erase(operands.begin());
  if (operands.size() < 2 || operands[1].empty()) return std::nullopt;
  return Setting{to_lower(operands[0]), operands[1]};
}

// Whether a command is a file outside both the system and the project.
bool is_foreign_program(const Subject& subject, const std::string& value) {
  const std::string program = value.substr(0, value.find(' '));
  return contains(program, '/') && !starts_with_any(program, {"/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/"}) &&
         std::ranges::none_of(subject.paths(program),
                              [&](const std::string& path) { return is_within(path, subject.place.project); });
}

// Whether a value is more than the name of a system program: the path of a script, or a shell command line.
bool is_own_program(const Subject& subject, const std::string& value) {
  if (value.find_first_of(";|&`$<>") != std::string::npos) return true;
  return is_shell(value.substr(0, value.find(' '))) || is_foreign_program(subject, value);
}

}  // namespace

// Finds a push to an address that is not a remote of this project, or that this command line itself makes a remote.
Finding pushes_elsewhere(const Subject& subject) {
  for (size_t i = 1; i + 1 < subject.command.words.size(); ++i) {  // git -c remote.origin.url=...
    const std::string setting = to_lower(subject.command.word(i) == "-c" ? subject.command.word(i + 1) : "");
    const std::string_view key = std::string_view(setting).substr(0, setting.find('='));
    if (key.ends_with(".url") || key.ends_with(".pushurl") || key.ends_with("insteadof"))
      return fmt::format("{} sends the push somewhere else", key);
  }
  std::string to = subject.operand(1);
  if (const auto named = subject.value(0, "--repo")) to = *named;
  // git push "$(cat url)": somebody else may have written the address; that of `git push $(git remote)` comes from git.
  for (const ShellWord& word : subject.command.words) {
    if (word.text != to || !to.starts_with(kUnknownPart) || word.sources.empty()) continue;
    const bool is_gits =
        std::ranges::all_of(word.sources, [&](const ShellSpan& span) { return subject.span_has(span, "git"); });
    if (!is_gits) return ask("where it pushes to is not on the line");
  }
  if (is_address(to) && !is_remote(subject, to)) return fmt::format("{} is not a remote of this project", readable(to));
  const auto before = subject.reading.in({0, subject.index, 0});
  for (size_t i = 0; i < before.size(); ++i) {
    if (program_of(before[i]) != "git") continue;
    const Subject earlier(subject.reading, i, subject.place);
    const bool redirects = earlier.does("config/url.*");  // url.ADDRESS.insteadOf
    const bool sets = redirects || earlier.does("remote/add remote/set-url config/remote.*");
    const std::string address = redirects                        ? earlier.operand(1).substr(4)
                                : earlier.operand(0) == "config" ? earlier.operand(2)
                                                                 : earlier.operand(3);
    const bool is_meant = redirects || to.empty() || earlier.operand(2) == to || contains(earlier.operand(1), to);
    if (sets && is_meant && !is_remote(subject, address))
      return ask(fmt::format("it pushes to {}, which became a remote a moment ago", readable(address)));
  }
  return std::nullopt;
}

Finding forces_by_refspec(const Subject& subject) {
  for (size_t i = 2; i < subject.operands.size(); ++i) {
    if (subject.operands[i].starts_with('+')) return "a + before the branch forces the push";
    if (subject.operands[i].starts_with(':')) return "it deletes a branch or tag of the remote";
  }
  return std::nullopt;
}

Finding cleans_all(const Subject& subject) {
  const GitCall call = git_call(subject);
  if (!call.flag('f') && !call.option("--force")) return std::nullopt;
  const auto operands = call.operands();
  const bool is_limited = !operands.empty() && std::ranges::none_of(operands, [&](const std::string& one) {
    return means_everything(subject, one);
  });
  // -e PATTERN excludes files; it does not limit the command to a path.
  if (is_limited && !call.flag('e')) return std::nullopt;
  return "it deletes untracked files, which can't be restored";
}

Finding discards_all(const Subject& subject) {
  const GitCall call = git_call(subject);
  if (call.verb == "restore" && (call.option("--staged") || call.flag('S')) && !call.flag('W') &&
      !call.option("--worktree"))
    return std::nullopt;
  const bool creates = call.flag('b') || call.flag('B') || call.option("--orphan");
  for (const std::string& operand : call.operands()) {
    if (!creates && means_everything(subject, operand)) return "it discards all uncommitted changes";
  }
  if (call.verb == "checkout" && (call.option("--force") || call.flag('f')))
    return "it discards all uncommitted changes";
  return std::nullopt;
}

// -c core.fsmonitor=/tmp/x, GIT_CONFIG_KEY_0=core.fsmonitor, GIT_ASKPASS=/tmp/x: a program outside both the system and
// the project, which git would run unseen. Editors are exempt, because git shows what they do.
Finding passes_program_to_git(const Subject& subject) {
  std::vector<Setting> settings;
  const auto add = [&](const std::string& text) {
    const size_t equals = text.find('=');
    if (equals != std::string::npos) settings.push_back({to_lower(text.substr(0, equals)), text.substr(equals + 1)});
  };
  for (size_t i = 1; i + 1 < subject.command.words.size(); ++i) {
    if (is_listed("-c --config", subject.command.word(i))) add(subject.command.word(i + 1));
  }
  std::string key;
  for (const ShellAssignment& one : subject.command.assignments) {
    if (one.name.starts_with("GIT_CONFIG_KEY_")) key = one.value.text;
    if (one.name.starts_with("GIT_CONFIG_VALUE_")) add(key + "=" + one.value.text);
    if (is_listed("GIT_ASKPASS SSH_ASKPASS GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND", one.name) &&
        is_foreign_program(subject, one.value.text))
      return fmt::format("it makes git run {}", one.value.text);
  }
  for (const auto& [name, value] : settings) {
    if ((is_run_by_git(name) || name == "core.askpass") && is_foreign_program(subject, value))
      return fmt::format("it makes git run {}", value);
  }
  return std::nullopt;
}

// `git config` of something that a later git command would run.
Finding configures_program_for_git(const Subject& subject) {
  const auto setting = setting_of(git_call(subject));
  if (!setting) return std::nullopt;
  const auto& [key, value] = *setting;
  if (subject.option("--global") || subject.option("--system")) {
    if (key == "core.hookspath" || key.ends_with("command") || key.ends_with("helper") || value.starts_with('!'))
      return "it makes every later git command of this user run something";
  }
  // ssh with another key is harmless.
  if (key == "core.sshcommand" && value.starts_with("ssh ") && !is_own_program(subject, value) &&
      !contains(to_lower(value), "command="))
    return std::nullopt;
  if (is_run_by_git(key) && !is_listed("true false", value) && !value.starts_with("git-lfs"))
    return fmt::format("it makes every later git here run {}", value);
  if (is_listed("core.editor core.pager sequence.editor", key) && is_own_program(subject, value))
    return fmt::format("it makes every later git here run {}", value);
  if (key == "core.hookspath" || key == "include.path") {
    for (const std::string& path : subject.paths(value)) {
      if (!is_within(path, subject.place.project)) return fmt::format("it makes git use what is in {}", path);
    }
  }
  if (key.ends_with("credential.helper") && (value.starts_with("store") || value.find_first_of("/!") == 0))
    return "it makes git pass on or store passwords";
  return std::nullopt;
}

}  // namespace ralph
