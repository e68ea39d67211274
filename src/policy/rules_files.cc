// Rules about files: deletion, devices, credentials, permissions, start-up files, and the files that ralph relies on.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/git_call.h"
#include "policy/rules.h"

namespace ralph {
namespace {

// Variables that control ralph's hooks or the dynamic loader: setting one affects every later program.
bool is_switch_of_ralph(std::string_view name, const PolicyPlace& place) {
  return name == "RALPH_DISABLE_LOOP_CONTROLLER" || name == "RALPH_TRUST" ||
         std::ranges::any_of(place.hosts,
                             [&](const PolicyHost& host) { return !name.empty() && host.variable == name; });
}

// ralph itself, or a host that the session may run on.
bool is_ralph_or_host(std::string_view program, const PolicyPlace& place) {
  return program == "ralph" ||
         std::ranges::any_of(place.hosts, [&](const PolicyHost& host) { return host.program == program; });
}

// NAME=value before a command, alone, or as a word of export, env, declare.
template <class F>
bool any_assignment(const Subject& subject, F wanted) {
  for (const ShellAssignment& one : subject.command.assignments) {
    if (wanted(one.name, one.value.text)) return true;
  }
  if (!subject.is("export env declare typeset readonly sudo setenv local")) return false;
  for (const ShellWord& word : subject.command.words) {
    const size_t equals = word.text.find('=');
    if (equals != std::string::npos &&
        wanted(std::string_view(word.text).substr(0, equals), std::string_view(word.text).substr(equals + 1)))
      return true;
  }
  return false;
}

std::optional<std::string> first_deleted(const Subject& subject, DeletionOf wanted) {
  for (const std::string& path : subject.deleted()) {
    if (deletion_of(path, subject.place) == wanted) return path;
  }
  return std::nullopt;
}

bool is_world_writable(const std::string& mode) {
  if (!mode.empty() && mode.find_first_not_of("01234567") == std::string::npos) {
    return (mode.back() - '0') & 2;
  }
  for (const std::string& clause : split(mode, ',')) {
    const size_t op = clause.find_first_of("+=");
    if (op == std::string::npos || clause.find('w', op) == std::string::npos) continue;
    const std::string who = clause.substr(0, op);
    if (who.find_first_of("oa") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Finding tampers_with_ralph(const Subject& subject) {
  for (const std::string& path : subject.written()) {
    if (subject.program != "mkdir" && is_ralphs(path, subject.place, false)) return fmt::format("it writes {}", path);
  }
  // A folder here stands for its listed files: find tests -exec sed -i s/x/y/ {} +.
  for (const std::string& path : subject.edited()) {
    const bool is_plain = path.find_first_of("*?[") == std::string::npos && !contains(path, kUnknownPart);
    if (is_plain && is_ralphs(path + "/*", subject.place, false)) return fmt::format("it writes files of {}", path);
  }
  for (const std::string& path : subject.deleted()) {
    if (is_ralphs(path, subject.place, true)) return fmt::format("it removes {}", path);
  }
  if (subject.program == "git") {  // it accepts whole folders
    const GitCall call = git_call(subject);
    for (const bool cleans : {false, true}) {
      for (const std::string& word : cleans ? call.cleaned() : call.written(true)) {
        for (const std::string& path : paths_of(word, call.cwd, subject.place)) {
          if (is_ralphs(path, subject.place, true))
            return fmt::format("it {} {}", cleans ? "removes" : "changes", path);
        }
      }
    }
  }
  return std::nullopt;
}

Finding steers_hooks(const Subject& subject) {
  const auto is_switch = [&](std::string_view name) { return is_switch_of_ralph(name, subject.place); };
  if (any_assignment(subject, [&](std::string_view name, std::string_view) { return is_switch(name); })) {
    return "it sets a variable that switches ralph's checks off";
  }
  if (subject.program == "unset" && std::ranges::any_of(subject.operands, is_switch)) {
    return "it unsets a variable that controls ralph's hooks";
  }
  const bool is_host =
      std::ranges::any_of(subject.place.hosts, [&](const PolicyHost& host) { return host.program == subject.program; });
  const bool switches = subject.has_option("*disableAllHooks* hooks=false features.hooks=false") ||
                        subject.does("hooks/disable") || (subject.does("config/set") && subject.has("hooks"));
  if (is_host && switches) return "it switches the host's hooks off";
  return std::nullopt;
}

Finding ends_host(const Subject& subject) {
  for (const std::string& operand : subject.operands) {
    if (operand == "$PPID" || operand == "$CLAUDE_PID") return "it ends the agent that this session runs on";
    if (is_ralph_or_host(operand, subject.place))
      return fmt::format("it ends {}, which this session may run on", operand);
  }
  // $(pgrep claude), or through a pipe: pgrep claude | xargs kill
  for (const ShellSpan& span : subject.origins()) {
    for (const ShellCommand& source : subject.reading.in(span)) {
      const bool looks_up = is_one_of(source.word(0), {"pgrep", "pidof", "grep"});
      for (const ShellWord& name : source.words) {
        if (looks_up && is_ralph_or_host(name.text, subject.place)) return fmt::format("it ends {}", name.text);
        if (contains(name.text, ".ralph-active")) return "it ends the process of a plan run";
      }
    }
  }
  return std::nullopt;
}

// A redirection into a folder would fail, so a folder here stands for a list of its files: git ls-files | while read f;
// do : > "$f"; done.
Finding empties_project(const Subject& subject) {
  for (const std::string& path : subject.emptied()) {
    const bool is_all =
        deletion_of(path, subject.place) == DeletionOf::kProject && is_within(path, subject.place.project);
    if (is_all && !contains(path, "/.git")) return fmt::format("it would empty every file of {}", path);
  }
  return std::nullopt;
}

Finding deletes_project(const Subject& subject) {
  if (const auto path = first_deleted(subject, DeletionOf::kProject)) return fmt::format("it would remove {}", *path);
  return std::nullopt;
}

Finding deletes_outside(const Subject& subject) {
  if (const auto path = first_deleted(subject, DeletionOf::kOutside))
    return fmt::format("{} is outside the project", *path);
  // An unknown program with the arguments of a deletion.
  if (contains(subject.program, kUnknownPart) && subject.command.word(0)[0] == kUnknownPart && subject.flag('r') &&
      subject.flag('f')) {
    for (const std::string& operand : subject.operands) {
      for (const std::string& path : subject.paths(operand)) {
        if (deletion_of(path, subject.place) != DeletionOf::kNothingSpecial)
          return fmt::format("what it runs is unknown, and its words reach {}", path);
      }
    }
  }
  return std::nullopt;
}

// Asks about deletions whose targets are not on the command line, but come from a list or a variable that may be empty.
Finding deletes_unknown(const Subject& subject) {
  if (subject.command.in_definition || subject.command.read_again ||
      (subject.program == "shred" && !subject.flag('u') && !subject.option("--remove")))
    return std::nullopt;
  constexpr std::string_view kListMakers =
      "read mapfile readarray cat jq yq awk gawk mawk cut sort head tail sed tac uniq grep tr column paste comm curl "
      "wget "
      "ssh psql mysql sqlite3 python python3 node ruby perl php";
  const std::string runner = subject.runner();
  const bool from_list =
      is_listed("xargs gxargs parallel", runner) || runner.ends_with("awk") || is_interpreter(runner);
  for (size_t i = 1; i < subject.command.words.size(); ++i) {
    const ShellWord& word = subject.command.words[i];
    if (!word.text.starts_with(kUnknownPart)) continue;
    const bool made_of_list = std::ranges::any_of(word.sources, [&](const ShellSpan& span) {
      if (subject.span_has(span, kListMakers)) return true;
      const auto commands = subject.reading.in(span);  // $(<list)
      return commands.size() == 1 && commands[0].words.empty() && !commands[0].redirections.empty();
    });
    if (from_list || made_of_list) return ask("what it deletes comes from a list that is not on the line");
    const std::string_view rest = std::string_view(word.text).substr(1);
    if (word.sources.empty() && is_one_of(rest, {"/", "/*", "/.", "/.*", "/..", "/../*"}))
      return ask("if that variable is empty, it deletes everything");
  }
  return std::nullopt;
}

Finding writes_to_device(const Subject& subject) {
  for (const std::string& path : subject.written()) {
    if (is_disk(path)) return fmt::format("it writes to {}", path);
  }
  return std::nullopt;
}

Finding changes_disks(const Subject& subject) {
  if (subject.program == "zpool" && subject.operand(0) == "status") return std::nullopt;
  if (subject.program.starts_with("mk") && !subject.operands.empty()) {
    const auto paths = subject.paths(subject.operands.back());  // formatting an image file in the project is fine
    if (!paths.empty() && !paths[0].starts_with("/dev/")) return std::nullopt;
  }
  return fmt::format("{} changes disks and partitions", subject.program);
}

Finding reads_credentials(const Subject& subject) {
  // These tools use keys without printing them.
  for (const std::string& path : subject.read()) {
    if (is_credential(path, subject.place) && subject.program != "ssh-keygen" && subject.program != "tee")
      return fmt::format("{} holds credentials", path);
    const bool takes_all = (subject.is("tar zip rsync scp 7z") ||
                            (subject.program == "cp" && (subject.is_recursive() || subject.flag('a')))) &&
                           holds_credentials(path, subject.place);
    const bool is_target = subject.is("cp rsync scp") && subject.operands.size() > 1 &&
                           subject.paths(subject.operands.back()) == subject.paths(path);
    if (takes_all && !is_target) {
      return fmt::format("{} holds credentials among other things", path);
    }
  }
  return std::nullopt;
}

Finding loosens_permissions(const Subject& subject) {
  // A mode such as -w is parsed as an option, but it grants nothing.
  if (subject.operands.empty() || !is_world_writable(subject.operand(0))) return std::nullopt;
  if (subject.is_recursive()) return "everybody could write to all files there";
  if (const auto path = subject.foreign_operand()) return fmt::format("everybody could write to {}", *path);
  return std::nullopt;
}

Finding loosens_access_lists(const Subject& subject) {
  const bool opens = std::ranges::any_of(subject.operands, [](const std::string& one) {
    return contains(one, "o::rw") || contains(one, "o:rw") || contains(one, "other:");
  });
  return opens && subject.is_recursive() ? "everybody could write there" : Finding();
}

Finding writes_start_up_file(const Subject& subject) {
  for (const std::string& path : subject.written()) {
    if (is_start_up_file(path, subject.place))
      return fmt::format("it changes {}, which other programs run or read later", path);
  }
  return std::nullopt;
}

Finding writes_system_file(const Subject& subject) {
  if (subject.is("mkdir touch")) return std::nullopt;
  for (const std::string& path : subject.written()) {
    if (is_system_file(path) && !is_within(path, subject.place.project)) return fmt::format("it changes {}", path);
  }
  return std::nullopt;
}

Finding preloads_library(const Subject& subject) {
  const bool preloads = any_assignment(subject, [](std::string_view name, std::string_view value) {
    if (!is_one_of(name, {"LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "LD_AUDIT"}) || value.empty()) return false;
    const std::string_view library = value.substr(value.rfind('/') + 1);
    const bool is_known =
        starts_with_any(library, {"libasan", "libtsan", "libubsan", "libclang_rt", "libjemalloc", "libtcmalloc",
                                  "libmimalloc", "libeatmydata", "libfaketime", "libprofiler"});
    return !is_known && value[0] != kUnknownPart && value != "$(gcc";
  });
  if (preloads) return "it loads a library into every later program";
  return std::nullopt;
}

}  // namespace ralph
