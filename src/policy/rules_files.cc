// Rules about files: deletion, devices, credentials, permissions, start-up files, and the files that ralph relies on.
#include <algorithm>

#include "base/text.h"
#include "policy/git_call.h"
#include "policy/rules.h"

namespace ralph {
namespace {

// Variables that control ralph's hooks or the loader: setting one affects every later program.
bool is_switch_of_ralph(std::string_view name, const PolicyPlace& place) {
  return name == "RALPH_DISABLE_LOOP_CONTROLLER" || std::ranges::any_of(place.hosts, [&](const PolicyHost& host) {
           return !name.empty() && host.variable == name;
         });
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

bool is_recursive(const Subject& subject) {
  return subject.flag('r') || subject.flag('R') || subject.option("--recursive");
}

Finding first_deleted(const Subject& subject, DeletionOf wanted) {
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
  const auto is_switch = [&](std::string_view name) { return is_switch_of_ralph(name, subject.place); };
  if (any_assignment(subject, [&](std::string_view name, std::string_view) { return is_switch(name); })) {
    return "it sets a variable that switches ralph's hooks off";
  }
  if (subject.program == "unset" && std::ranges::any_of(subject.operands, is_switch)) {
    return "it unsets a variable that steers ralph's hooks";
  }
  if (subject.program == "ralph") {
    if (subject.does("loop/cancel")) return "only the user cancels a loop";
    if (subject.does("hooks/uninstall hooks/install") && !subject.option("--dry-run"))
      return "only the user changes ralph's hooks";
    if (subject.does("plan/archive")) return "only the user archives a plan";
  }
  if (subject.is("kill pkill killall")) {
    for (const std::string& operand : subject.operands) {
      if (operand == "$PPID" || operand == "$CLAUDE_PID") return "it ends the agent that this session runs on";
      if (operand == "node" || is_ralph_or_host(operand, subject.place)) {
        return fmt::format("it ends {}, which this session may run on", operand);
      }
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
  }
  return std::nullopt;
}

Finding deletes_project(const Subject& subject) {
  if (subject.is("rm rmdir shred srm mv unlink rimraf rsync trash trash-put gio git")) {
    // Even without -r: `find . -type f -exec rm {} +` is read as `rm .`, which nobody would type.
    if (const auto path = first_deleted(subject, DeletionOf::kProject)) return fmt::format("it would remove {}", *path);
  }
  return std::nullopt;
}

Finding deletes_outside(const Subject& subject) {
  if (const auto path = first_deleted(subject, DeletionOf::kOutside))
    return fmt::format("{} is outside of the project", *path);
  // An unknown program with the arguments of a deletion.
  if (contains(subject.program, kUnknownPart) && subject.command.word(0)[0] == kUnknownPart && subject.flag('r') &&
      subject.flag('f')) {
    for (const std::string& operand : subject.operands) {
      for (const std::string& path : subject.paths(operand)) {
        if (deletion_of(path, subject.place) != DeletionOf::kNothingSpecial)
          return fmt::format("what it runs is not known, and its words reach {}", path);
      }
    }
  }
  return std::nullopt;
}

Finding writes_to_device(const Subject& subject) {
  for (const std::string& path : subject.written()) {
    if (is_disk(path)) return fmt::format("it writes to {}", path);
  }
  if (subject.program == "mkfs" || subject.program.starts_with("mkfs.") ||
      subject.is("wipefs mkswap sfdisk sgdisk blkdiscard mke2fs fdisk gdisk parted cfdisk hdparm badblocks cryptsetup "
                 "pvcreate vgremove lvremove pvremove zpool")) {
    if (subject.has("-l --list --help --version") || (subject.program == "zpool" && subject.operand(0) == "status"))
      return std::nullopt;
    for (const std::string& operand : subject.operands) {
      const auto paths = subject.paths(operand);  // an image file of the project may be formatted
      if (subject.program.starts_with("mk") && !paths.empty() && !paths[0].starts_with("/dev/") &&
          &operand == &subject.operands.back())
        return std::nullopt;
    }
    return fmt::format("{} changes disks and partitions", subject.program);
  }
  if (subject.program == "diskutil" && subject.operand(0).starts_with("erase")) return "it erases a disk";
  return std::nullopt;
}

Finding reads_credentials(const Subject& subject) {
  // These tools use keys without printing them.
  for (const std::string& path : subject.read()) {
    if (is_credential(path, subject.place) && subject.program != "ssh-keygen" && subject.program != "tee")
      return fmt::format("{} holds credentials", path);
    const bool takes_all = (subject.is("tar zip rsync scp 7z") ||
                            (subject.program == "cp" && (is_recursive(subject) || subject.flag('a')))) &&
                           holds_credentials(path, subject.place);
    const bool is_target = subject.is("cp rsync scp") && subject.operands.size() > 1 &&
                           subject.paths(subject.operands.back()) == subject.paths(path);
    if (takes_all && !is_target) {
      return fmt::format("{} holds credentials among other things", path);
    }
  }
  if (subject.program.starts_with("gpg") &&
      (subject.option("--export-secret-keys") || subject.option("--export-secret-subkeys")))
    return "it prints secret keys";
  const std::string first = subject.operand(0), second = subject.operand(1);
  constexpr std::string_view kPrints = "it prints credentials";
  constexpr CallRow kPrinters[] = {{"gh", "auth/token", kPrints},
                                   {"git", "credential/fill", kPrints},
                                   {"aws", "configure/get configure/export-credentials", kPrints},
                                   {"az", "account/get-access-token", kPrints},
                                   {"security", "dump-keychain", kPrints},
                                   {"secret-tool", "lookup", kPrints},
                                   {"pass", "show", kPrints},
                                   {"op vault", "read", kPrints},
                                   {"keyring", "get", kPrints},
                                   {"ssh-keygen", "-y", kPrints}};
  if ((subject.program == "gcloud" && first == "auth" && second.starts_with("print-")) ||
      (subject.program == "security" && first.starts_with("find-")) ||
      (subject.program == "kubectl" && first == "get" && second.starts_with("secret") &&
       subject.value('o', "--output")))
    return std::string(kPrints);
  return first_call(subject, kPrinters);
}

Finding loosens_permissions(const Subject& subject) {
  if (subject.program == "setfacl" && is_recursive(subject)) {
    for (const std::string& operand : subject.operands) {
      if (contains(operand, "o::rw")) return "everybody could write there";
    }
  }
  if (subject.program != "chmod" || subject.operands.empty()) return std::nullopt;
  // A mode such as -w looks like an option, but it grants nothing.
  const std::string mode = subject.operand(0);
  if (!is_world_writable(mode)) return std::nullopt;
  if (is_recursive(subject)) return "everybody could write to all files there";
  if (const auto path = subject.foreign_operand()) return fmt::format("everybody could write to {}", *path);
  return std::nullopt;
}

Finding persists(const Subject& subject) {
  const std::string first = subject.operand(0);
  for (const std::string& path : subject.written()) {
    if (is_start_up_file(path, subject.place))
      return fmt::format("it changes {}, which is run or read later by others", path);
  }
  if (subject.program == "crontab" && !subject.flag('l')) return "it changes the user's cron jobs";
  if (subject.is("at batch") && !subject.flag('l')) return "it has a command run later";
  constexpr CallRow kServices[] = {{"systemctl", "enable link edit reenable", "it makes a service start by itself"},
                                   {"systemd-run", "", "it has a service run outside of the session"},
                                   {"launchctl", "load bootstrap submit enable", "it makes a service start by itself"},
                                   {"update-rc.d ldconfig", "", "it changes what the system starts or loads"}};
  if (auto finding = first_call(subject, kServices)) return finding;
  if (subject.program == "chkconfig" && subject.operands.size() > 1)
    return "it changes what the system starts or loads";
  if (subject.program == "git" && first == "config" && (subject.option("--global") || subject.option("--system")) &&
      subject.operands.size() > 2) {
    const std::string key = to_lower(subject.operand(1)), value = subject.operand(2);
    if (key == "core.hookspath" || key.ends_with("command") || key.ends_with("helper") || key == "core.pager" ||
        key == "core.editor" || value.starts_with('!')) {
      return "it makes every later git of this user run something";
    }
  }
  if (subject.program == "git" && first == "config" && to_lower(subject.operand(1)) == "core.hookspath") {
    for (const std::string& path : subject.paths(subject.operand(2))) {
      if (!is_within(path, subject.place.project)) return fmt::format("it makes git run hooks from {}", path);
    }
  }
  const bool preloads = any_assignment(subject, [](std::string_view name, std::string_view value) {
    if (!is_one_of(name, {"LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "LD_AUDIT"}) || value.empty()) return false;
    const std::string_view library = value.substr(value.rfind('/') + 1);
    const bool is_known =
        starts_with_any(library, {"libasan", "libtsan", "libubsan", "libclang_rt", "libjemalloc", "libtcmalloc",
                                  "libmimalloc", "libeatmydata", "libfaketime", "libprofiler"});
    return !is_known && value[0] != kUnknownPart && value != "$(gcc";
  });
  if (preloads) return "it loads a library into every program that follows";
  return std::nullopt;
}

}  // namespace ralph
