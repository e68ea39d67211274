// ralph hooks install, ralph hooks uninstall: ralph's hooks in the settings of a host agent.
#include <array>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/registry.h"
#include "hooks/files.h"
#include "hooks/install.h"
#include "os/clock.h"
#include "policy/command_files.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr Option kHostOption = {
    .name = "host", .letter = 0, .value = "NAME", .help = "Whose hooks (default claude).", .choices = kHostNames};
constexpr Option kProjectOption = {"project", 0, "", "In this folder, for all who work in it (the default)."};
constexpr Option kUserOption = {"user", 0, "", "In your own settings, for all your projects."};
constexpr Option kDryRunOption = {"dry-run", 0, "", "Show what would change; change nothing."};
constexpr std::array kInstallOptions = {
    kHostOption, kProjectOption, kUserOption,
    Option{"commands", 0, "", "Also write /ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status, /ralph-plan (claude)."},
    kDryRunOption};
constexpr std::array kUninstallOptions = {kHostOption, kProjectOption, kUserOption, kDryRunOption};

struct Wish {
  HookFile file;
  std::string project;
  bool dry_run = false;
  Environment environment;
  Style style;
};

Result<Wish> wish_from(const Arguments& arguments) {
  if (arguments.has("project") && arguments.has("user"))
    return fail(ErrorKind::kUsage, "--project and --user exclude each other; run ralph twice for both");
  Wish wish;
  wish.environment = Environment::of_this_process();
  wish.style = style_for(STDOUT_FILENO, wish.environment);
  wish.dry_run = arguments.has("dry-run");
  TRY_VALUE(wish.project, current_directory());
  const Host host = host_from(to_lower(arguments.value("host").value_or("claude"))).value_or(Host::kClaude);
  TRY_VALUE(wish.file, hook_file(host, arguments.has("user"), wish.environment, wish.project));
  return wish;
}

void show_changes(const Wish& wish, std::string_view shown, const std::vector<HookChange>& changes) {
  fmt::print("{}{}\n", wish.dry_run ? "Would change " : "", wish.style.bold(shown));
  size_t width = 0;
  for (const HookChange& change : changes) width = std::max(width, change.where.size());
  for (const HookChange& change : changes) {
    const std::string sign(1, change.sign);
    fmt::print("  {} {:<{}}  {}\n",
               change.sign == '+'   ? wish.style.green(sign)
               : change.sign == '-' ? wish.style.red(sign)
                                    : wish.style.yellow(sign),
               change.where, width, change.what);
  }
}

// What was kept beside a file, as people are told.
std::string shown_beside(const HookFile& file, const std::string& path) {
  return file.user ? path : join_path(folder_of(file.host), base_name(path));
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail(ErrorKind::kIo, "cannot remove {}: {}", path, errno_text(errno));
}

// Keeps what was there, then replaces it; if that can't be done, nothing is left of either.
Result<std::string> replace_with_backup(const HookFile& file, std::string_view before, std::string_view after) {
  TRY_VALUE(std::string kept, back_up(file, before, SystemClock().wall()));
  const Status written = write_changed(file, after);
  if (written) return kept;
  static_cast<void>(remove_file(kept));
  return tl::unexpected<Error>(written.error());
}

// ---- install

// Returns whether anything changed.
Result<bool> install_hooks(const Wish& wish, const std::string& program) {
  const HookFile& file = wish.file;
  TRY_VALUE(auto before, read_to_change(file));
  TRY_VALUE(auto merged, with_hooks(before, file.shown, file.host, program));
  if (merged.changes.empty()) return false;
  if (wish.dry_run) {
    show_changes(wish, file.shown, merged.changes);
    return true;
  }
  const bool folder_was_there = is_directory(file.folder);
  TRY(make_directories(file.folder));
  TRY_VALUE(const Fd lock, lock_folder(file.folder));
  // Another ralph may have been faster than the lock.
  TRY_VALUE(before, read_to_change(file));
  TRY_VALUE(merged, with_hooks(before, file.shown, file.host, program));
  if (merged.changes.empty()) return false;
  std::string kept;
  if (before) {
    TRY_VALUE(kept, replace_with_backup(file, *before, merged.text));
  } else if (const Status written = write_changed(file, merged.text); !written) {
    if (!folder_was_there) ::rmdir(file.folder.c_str());
    return tl::unexpected<Error>(written.error());
  }
  show_changes(wish, file.shown, merged.changes);
  if (!kept.empty()) fmt::print("The file as it was: {}\n", shown_beside(file, kept));
  return true;
}

struct CommandFolder {
  std::string path, shown;
};

Result<CommandFolder> command_folder(const HookFile& file) {
  CommandFolder folder{join_path(file.folder, "commands"), ""};
  folder.shown = file.user ? folder.path : join_path(folder_of(file.host), "commands");
  struct stat info{};
  for (const std::string& path : {file.folder, folder.path}) {
    if (!file.user && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
      return fail(ErrorKind::kInput, "{} is a symbolic link; in a project ralph does not write through one", path);
  }
  return folder;
}

Result<bool> install_commands(const Wish& wish, const std::string& program) {
  TRY_VALUE(const CommandFolder folder, command_folder(wish.file));
  std::vector<HookChange> changes;
  for (const CommandFile& command : command_files(program)) {
    const std::string path = join_path(folder.path, command.name);
    const std::string name = fmt::format("/{}", command.name.substr(0, command.name.rfind('.')));
    const auto there = file_exists(path) ? read_file(path) : Result<std::string>(std::string());
    if (there && *there == command.text) continue;
    if (!there || (file_exists(path) && !is_ralphs_command_file(*there))) {
      std::fflush(stdout);
      fmt::print(stderr, "Note: {} is there and is not ralph's; it was left alone\n",
                 join_path(folder.shown, command.name));
      continue;
    }
    changes.push_back({there->empty() ? '+' : '~', name, std::string(command.name)});
    if (wish.dry_run) continue;
    TRY(make_directories(folder.path));
    TRY(write_file_atomically(path, command.text));
  }
  if (!changes.empty()) show_changes(wish, folder.shown, changes);
  return !changes.empty();
}

void say_what_else(const Wish& wish, const std::string& program, bool commands) {
  const HookFile& file = wish.file;
  if (file.host == Host::kCodex) {
    fmt::print(
        "Codex runs no hook that you have not trusted, and does not say so: start codex{} once and choose \"Trust all "
        "and\ncontinue\", or look at them with /hooks. After each change they have to be trusted again.\n",
        file.user ? "" : " here");
  } else if (file.host == Host::kGemini && !file.user) {
    fmt::print(
        "Gemini CLI runs a project's hooks only in a folder that it trusts: start gemini here once and trust it\n"
        "(--skip-trust is not enough; GEMINI_CLI_TRUST_WORKSPACE=true is).\n");
  } else if (file.host == Host::kClaude && !commands) {
    fmt::print("With --commands you also get /ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status and /ralph-plan.\n");
  }
  if (program != "ralph") {
    fmt::print("They call {}, because that is not the ralph on PATH.{}\n", program,
               file.user ? ""
                         : " Others who use this file may have none there:\nput it on PATH and install again to have "
                           "it called by name.");
  }
}

HookSurvey survey_of(const Wish& wish, bool user) {
  const auto file = hook_file(wish.file.host, user, wish.environment, wish.project);
  const auto text = file && is_regular_file(file->path) ? read_file(file->path) : Result<std::string>("{}");
  return text ? survey_hooks(*text, file ? file->shown : "", wish.file.host).value_or(HookSurvey{}) : HookSurvey{};
}

// In the home folder the project's file and the user's are one.
bool are_one_file(const Wish& wish) {
  const auto other = hook_file(wish.file.host, !wish.file.user, wish.environment, wish.project);
  return other && is_same_file(other->path, wish.file.path);
}

// A loop whose every stop is counted twice ends in half of its iterations.
void warn_of_twice(const Wish& wish, const std::string& program) {
  const Host host = wish.file.host;
  const HookSurvey other = survey_of(wish, !wish.file.user);
  std::string also;
  if (other.has_hooks() && !are_one_file(wish) &&
      (!runs_same_hook_once(host) || other.programs != std::vector{program}))
    also = fmt::format("{} has hooks of ralph too", wish.file.user ? "this project" : "your own settings");
  if (other.plugin == true || survey_of(wish, wish.file.user).plugin == true) also = "the plugin is switched on too";
  if (also.empty()) return;
  std::fflush(stdout);
  fmt::print(stderr, "Warning: {}, so each hook would run twice. Keep one of them; `ralph doctor` says how.\n", also);
}

Status install(const Arguments& arguments) {
  TRY_VALUE(const Wish wish, wish_from(arguments));
  const bool commands = arguments.has("commands");
  if (commands && wish.file.host != Host::kClaude)
    return fail(ErrorKind::kUsage, "--commands are for Claude Code; {} has no commands of this kind",
                title_of(wish.file.host));
  TRY_VALUE(const std::string program, program_for_hooks(wish.environment));
  if (commands) TRY(command_folder(wish.file));  // refuses before anything is written
  TRY_VALUE(const bool hooks_changed, install_hooks(wish, program));
  bool changed = hooks_changed;
  if (commands) {
    TRY_VALUE(const bool more, install_commands(wish, program));
    changed = changed || more;
  }
  if (!changed) fmt::print("Nothing to do: {} has all of ralph's hooks.\n", wish.file.shown);
  if (changed && !wish.dry_run) say_what_else(wish, program, commands);
  warn_of_twice(wish, program);
  return {};
}

// ---- uninstall

struct Removal {
  std::optional<std::string> text;  // nothing: the file goes
  std::vector<HookChange> changes;
  std::vector<std::string> left;
  std::string restored;  // the backup that the text is, if it is one
};

Result<Removal> removal_from(const HookFile& file, const std::string& text) {
  TRY_VALUE(const HookSurvey survey, survey_hooks(text, file.shown, file.host));
  std::optional<std::string> before;  // the newest without hooks that are ralph's alone
  std::string before_path;
  for (const std::string& path : backups_of(file)) {
    const auto kept = read_file(path);
    const auto old = kept ? survey_hooks(*kept, path, file.host) : Result<HookSurvey>(tl::unexpected<Error>(Error{}));
    if (!old || old->is_own) continue;
    before = *kept;
    before_path = path;
    break;
  }
  TRY_VALUE(MergedSettings merged, without_hooks(text, file.shown, file.host, before));
  Removal removal{std::move(merged.text), std::move(merged.changes), std::move(merged.left), ""};
  if (removal.changes.empty()) return removal;
  if (before && survey.has_hooks()) {
    // If installing into the backup gives what is there now, nobody else changed anything.
    const auto again = with_hooks(*before, file.shown, file.host, survey.programs.front());
    if (again && again->text == text) {
      removal.text = std::move(before);
      removal.restored = before_path;
    }
  } else if (!before && trim(*removal.text) == "{}") {
    removal.text.reset();  // install had made it
  }
  return removal;
}

Result<bool> uninstall_hooks(const Wish& wish) {
  const HookFile& file = wish.file;
  TRY_VALUE(auto text, read_to_change(file));
  if (!text) return false;
  std::optional<Fd> lock;
  if (!wish.dry_run) {
    TRY_VALUE(lock, lock_folder(file.folder));
    TRY_VALUE(text, read_to_change(file));
    if (!text) return false;
  }
  TRY_VALUE(const Removal removal, removal_from(file, *text));
  if (removal.changes.empty() && removal.left.empty()) return false;
  for (const std::string& left : removal.left)
    fmt::print(stderr, "Note: in {}, {}; it was left alone: take ralph out of it by hand\n", file.shown, left);
  if (removal.changes.empty()) {
    fmt::print("{} is as it was\n", file.shown);
    return true;
  }
  std::string kept;
  if (!wish.dry_run) {
    if (!removal.text) {
      TRY(remove_file(file.path));
    } else if (!removal.restored.empty()) {
      TRY(write_changed(file, *removal.text));
      TRY(remove_file(removal.restored));
    } else {
      TRY_VALUE(kept, replace_with_backup(file, *text, *removal.text));
    }
  }
  show_changes(wish, file.shown, removal.changes);
  if (!removal.text) fmt::print("{} has nothing else in it{}\n", file.shown, wish.dry_run ? "" : " and was removed");
  if (!removal.restored.empty())
    fmt::print("{} {} as it was before ralph's hooks came\n", file.shown, wish.dry_run ? "would be" : "is");
  if (!kept.empty()) fmt::print("The file as it was: {}\n", shown_beside(file, kept));
  return true;
}

Result<bool> uninstall_commands(const Wish& wish) {
  if (wish.file.host != Host::kClaude) return false;
  TRY_VALUE(const CommandFolder folder, command_folder(wish.file));
  std::vector<HookChange> changes;
  for (const CommandFile& command : command_files("ralph")) {
    const std::string path = join_path(folder.path, command.name);
    const auto text = is_regular_file(path) ? read_file(path) : Result<std::string>(std::string());
    if (!text || !is_ralphs_command_file(*text)) continue;
    if (!wish.dry_run) TRY(remove_file(path));
    changes.push_back(
        {'-', fmt::format("/{}", command.name.substr(0, command.name.rfind('.'))), std::string(command.name)});
  }
  if (!changes.empty()) show_changes(wish, folder.shown, changes);
  if (!changes.empty() && !wish.dry_run) ::rmdir(folder.path.c_str());  // if nothing else is in it
  return !changes.empty();
}

Status uninstall(const Arguments& arguments) {
  TRY_VALUE(const Wish wish, wish_from(arguments));
  TRY_VALUE(const bool hooks, uninstall_hooks(wish));
  TRY_VALUE(const bool commands, uninstall_commands(wish));
  // A folder that install made; a user's own is the host's.
  if ((hooks || commands) && !wish.dry_run && !wish.file.user) ::rmdir(wish.file.folder.c_str());
  if (!hooks && !commands) fmt::print("Nothing to do: {} has no hooks of ralph.\n", wish.file.shown);
  return {};
}

template <Status (*kDo)(const Arguments&)>
int run(const Arguments& arguments) {
  const Status done = kDo(arguments);
  return done ? 0 : report(done.error());
}

}  // namespace

const Command kHooksInstall = {
    "hooks install",
    "Put ralph's hooks into the settings of Claude Code, Codex or Gemini CLI.",
    R"(Merges into .claude/settings.json, .codex/hooks.json or .gemini/settings.json of this folder, or with --user of your
home. Whatever else is there keeps its place and its form; the file as it was is kept beside it. A second time there is
nothing to do; hooks that call a ralph elsewhere are changed to call this one.

For Claude Code it also raises CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, after which a session would end although the loop goes on.)",
    "ralph hooks install\n"
    "ralph hooks install --commands --dry-run\n"
    "ralph hooks install --host codex --user",
    kInstallOptions,
    {},
    run<install>,
};

const Command kHooksUninstall = {
    "hooks uninstall",
    "Take ralph's hooks and commands out of them again.",
    R"(Removes each hook that calls `ralph hooks`, what was there for them alone, and the command files that ralph wrote. If
nothing else was changed since they were installed, the file is afterwards what it was before, to the byte. A line that
does more than call ralph (`ralph hooks stop; bell`) is left, and named.)",
    "ralph hooks uninstall\n"
    "ralph hooks uninstall --host gemini --user",
    kUninstallOptions,
    {},
    run<uninstall>,
};

}  // namespace ralph::cli
