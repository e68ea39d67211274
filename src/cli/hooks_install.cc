// ralph hooks install, ralph hooks uninstall: add ralph's hooks to the settings of a host, and remove them.
#include <array>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/output_options.h"
#include "cli/registry.h"
#include "hooks/files.h"
#include "hooks/install.h"
#include "os/clock.h"
#include "policy/command_files.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr Option kHostOption = {
    .name = "host", .letter = 0, .value = kHostChoices, .help = "The host (default claude).", .choices = kHostChoices};
constexpr Option kProjectOption = {"project", 0, "", "In this folder, for everyone who works in it (the default)."};
constexpr Option kUserOption = {"user", 0, "", "In your own settings, for all your projects."};
constexpr Option kDryRunOption = {"dry-run", 0, "", "Show what would change; change nothing."};
constexpr std::array kInstallOptions = {
    kHostOption, kProjectOption, kUserOption,
    Option{"commands", 0, "", "Also write /ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status, /ralph-plan (claude)."},
    kDryRunOption};
constexpr std::array kUninstallOptions = {kHostOption, kProjectOption, kUserOption, kDryRunOption};

struct Request {
  HookFile file;
  std::string project;
  bool dry_run = false;
  Environment environment;
  Style style;
};

Result<Request> install_request(const Arguments& arguments) {
  if (arguments.has("project") && arguments.has("user"))
    return fail(ErrorKind::kUsage, "--project and --user exclude each other; run ralph twice for both");
  Request request;
  request.environment = Environment::of_this_process();
  request.style = style_of_output(request.environment);
  request.dry_run = arguments.has("dry-run");
  TRY_VALUE(request.project, current_directory());
  const Host* const host = find_host(to_lower(arguments.value("host").value_or(kHosts[0].name)));
  TRY_VALUE(request.file,
            hook_file(host ? *host : kHosts[0], arguments.has("user"), request.environment, request.project));
  return request;
}

void show_changes(const Request& request, std::string_view shown, const std::vector<HookChange>& changes) {
  fmt::print("{}{}\n", request.dry_run ? "Would change " : "", request.style.bold(shown));
  size_t width = 0;
  for (const HookChange& change : changes) width = std::max(width, change.where.size());
  for (const HookChange& change : changes) {
    const std::string sign(1, change.sign);
    fmt::print("  {} {:<{}}  {}\n",
               change.sign == '+'   ? request.style.green(sign)
               : change.sign == '-' ? request.style.red(sign)
                                    : request.style.yellow(sign),
               change.where, width, change.what);
  }
}

// The path of something next to the file, for display.
std::string shown_beside(const HookFile& file, const std::string& path) {
  return file.user ? path : join_path(file.host->folder, base_name(path));
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return fail(ErrorKind::kIo, "cannot remove {}: {}", path, errno_text(errno));
}

// Backs the file up and replaces it. If that fails, no backup is left behind.
Result<std::string> replace_with_backup(const HookFile& file, std::string_view before, std::string_view after) {
  TRY_VALUE(std::string kept, back_up(file, before, SystemClock().wall()));
  const Status written = write_changed(file, after);
  if (written) return kept;
  static_cast<void>(remove_file(kept));
  return tl::unexpected<Error>(written.error());
}

// The newest backup without ralph's own hooks.
struct Before {
  std::optional<std::string> text;
  std::string path;
};

Before before_ralph(const HookFile& file) {
  for (const std::string& path : backups_of(file)) {
    const auto kept = read_file(path);
    const auto old = kept ? survey_hooks(*kept, path, *file.host) : Result<HookSurvey>(tl::unexpected<Error>(Error{}));
    if (old && !old->is_own) return {*kept, path};
  }
  return {};
}

// ---- install

// Returns whether anything changed.
Result<bool> install_hooks(const Request& request, const std::string& program) {
  const HookFile& file = request.file;
  TRY_VALUE(auto before, read_to_change(file));
  const Before first = before_ralph(file);
  TRY_VALUE(auto merged, with_hooks(before, file.shown, *file.host, program, first.text));
  if (merged.changes.empty()) return false;
  if (request.dry_run) {
    show_changes(request, file.shown, merged.changes);
    return true;
  }
  const bool folder_was_there = is_directory(file.folder);
  TRY(make_directories(file.folder));
  TRY_VALUE(const Fd lock, lock_folder(file.folder));
  // Another ralph may have changed the file before we got the lock.
  TRY_VALUE(before, read_to_change(file));
  TRY_VALUE(merged, with_hooks(before, file.shown, *file.host, program, first.text));
  if (merged.changes.empty()) return false;
  std::string kept;
  if (before && file.host->own_text.empty()) {
    TRY_VALUE(kept, replace_with_backup(file, *before, merged.text));
  } else if (const Status written = write_changed(file, merged.text); !written) {
    if (!folder_was_there) ::rmdir(file.folder.c_str());
    return tl::unexpected<Error>(written.error());
  }
  show_changes(request, file.shown, merged.changes);
  if (!kept.empty()) fmt::print("The file as it was: {}\n", shown_beside(file, kept));
  return true;
}

HookChange change_of(char sign, const CommandFile& command) {
  return {sign, fmt::format("/{}", command.name.substr(0, command.name.rfind('.'))), std::string(command.name)};
}

Result<std::string> command_folder(const HookFile& file) {
  std::string folder = join_path(file.folder, "commands");
  struct stat info{};
  for (const std::string& path : {file.folder, folder}) {
    if (!file.user && ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode))
      return fail(ErrorKind::kInput, "{} is a symbolic link; in a project ralph does not write through one", path);
  }
  return folder;
}

Result<bool> install_commands(const Request& request, const std::string& program) {
  TRY_VALUE(const std::string folder, command_folder(request.file));
  std::vector<HookChange> changes;
  for (const CommandFile& command : command_files(program)) {
    const std::string path = join_path(folder, command.name);
    const auto there = file_exists(path) ? read_file(path) : Result<std::string>(std::string());
    if (there && *there == command.text) continue;
    if (!there || (file_exists(path) && !is_ralphs_command_file(*there))) {
      std::fflush(stdout);
      fmt::print(stderr, "Note: {} exists and is not ralph's; it was left alone\n",
                 join_path(shown_beside(request.file, folder), command.name));
      continue;
    }
    changes.push_back(change_of(there->empty() ? '+' : '~', command));
    if (request.dry_run) continue;
    TRY(make_directories(folder));
    TRY(write_file_atomically(path, command.text));
  }
  if (!changes.empty()) show_changes(request, shown_beside(request.file, folder), changes);
  return !changes.empty();
}

void print_hints(const Request& request, const std::string& program, bool commands) {
  const HookFile& file = request.file;
  if (needs_trust(file)) fmt::print("{}:\n{}.\n", file.host->trust, file.host->trust_fix);
  if (!file.host->hint.empty()) fmt::print("{}.\n", file.host->hint);
  if (file.host->has_commands && !commands)
    fmt::print("With --commands you also get /ralph-loop, /ulw-loop, /cancel-ralph, /ralph-status and /ralph-plan.\n");
  if (program != "ralph") {
    fmt::print("The hooks call {}, because that is not the ralph on PATH.{}\n", program,
               file.user
                   ? ""
                   : " Others who use this file may not have it there:\nput it on PATH and install again, so that "
                     "the hooks call it by name.");
  }
}

HookSurvey survey_of(const Request& request, bool user) {
  const auto file = hook_file(*request.file.host, user, request.environment, request.project);
  const auto text = file && is_regular_file(file->path) ? read_file(file->path) : Result<std::string>("{}");
  return text ? survey_hooks(*text, file ? file->shown : "", *request.file.host).value_or(HookSurvey{}) : HookSurvey{};
}

// In the home folder, the project's file and the user's file are the same.
bool are_one_file(const Request& request) {
  const auto other = hook_file(*request.file.host, !request.file.user, request.environment, request.project);
  return other && is_same_file(other->path, request.file.path);
}

// If every stop counts twice, a loop ends after half of its iterations.
void warn_of_twice(const Request& request, const std::string& program) {
  const HookSurvey other = survey_of(request, !request.file.user);
  std::string also;
  if (other.has_hooks() && !are_one_file(request) &&
      (!request.file.host->runs_same_hook_once || other.programs != std::vector{program}))
    also = fmt::format("{} has ralph's hooks too", request.file.user ? "this project" : "your own settings");
  if (other.plugin == true || survey_of(request, request.file.user).plugin == true)
    also = "the plugin is switched on too";
  if (also.empty()) return;
  std::fflush(stdout);
  fmt::print(stderr, "Warning: {}, so each hook would run twice. Keep one of them; `ralph doctor` says how.\n", also);
}

Result<int> install(const Arguments& arguments) {
  TRY_VALUE(const Request request, install_request(arguments));
  const bool commands = arguments.has("commands");
  if (commands && !request.file.host->has_commands)
    return fail(ErrorKind::kUsage, "--commands: {} has no commands of this kind", request.file.host->title);
  TRY_VALUE(const std::string program, program_for_hooks(request.environment));
  if (commands) TRY(command_folder(request.file));  // fails early, before anything is written
  TRY_VALUE(bool changed, install_hooks(request, program));
  if (commands) {
    TRY_VALUE(const bool more, install_commands(request, program));
    changed = changed || more;
  }
  if (!changed) fmt::print("Nothing to do: {} has all of ralph's hooks.\n", request.file.shown);
  if (changed && !request.dry_run) print_hints(request, program, commands);
  warn_of_twice(request, program);
  return 0;
}

// ---- uninstall

struct Removal {
  std::optional<std::string> text;  // nullopt: the file is removed
  std::vector<HookChange> changes;
  std::vector<std::string> left;
  std::string restored;  // the backup that `text` comes from, if any
};

Result<Removal> removal_from(const HookFile& file, const std::string& text) {
  TRY_VALUE(const HookSurvey survey, survey_hooks(text, file.shown, *file.host));
  const auto [before, before_path] = before_ralph(file);
  TRY_VALUE(MergedSettings merged, without_hooks(text, file.shown, *file.host, before));
  Removal removal{std::move(merged.text), std::move(merged.changes), std::move(merged.left), ""};
  if (removal.changes.empty()) return removal;
  if (before && survey.has_hooks()) {
    // If installing into the backup gives the present text, nothing else was changed.
    const auto again = with_hooks(*before, file.shown, *file.host, survey.programs.front());
    if (again && again->text == text) {
      removal.text = before;
      removal.restored = before_path;
    }
  } else if (!before && (trim(*removal.text) == "{}" || removal.text->empty())) {
    removal.text.reset();  // install created the file
  }
  return removal;
}

Result<bool> uninstall_hooks(const Request& request) {
  const HookFile& file = request.file;
  TRY_VALUE(auto text, read_to_change(file));
  if (!text) return false;
  std::optional<Fd> lock;
  if (!request.dry_run) {
    TRY_VALUE(lock, lock_folder(file.folder));
    TRY_VALUE(text, read_to_change(file));
    if (!text) return false;
  }
  TRY_VALUE(const Removal removal, removal_from(file, *text));
  if (removal.changes.empty() && removal.left.empty()) return false;
  for (const std::string& left : removal.left)
    fmt::print(stderr, "Note: in {}, {}; it was left alone: remove ralph from it by hand\n", file.shown, left);
  if (removal.changes.empty()) {
    fmt::print("{} was not changed\n", file.shown);
    return true;
  }
  std::string kept;
  if (!request.dry_run) {
    if (!removal.text) {
      TRY(remove_file(file.path));
    } else if (!removal.restored.empty()) {
      TRY(write_changed(file, *removal.text));
      TRY(remove_file(removal.restored));
    } else {
      TRY_VALUE(kept, replace_with_backup(file, *text, *removal.text));
    }
  }
  show_changes(request, file.shown, removal.changes);
  if (!removal.text) fmt::print("{} has nothing else in it{}\n", file.shown, request.dry_run ? "" : " and was removed");
  if (!removal.restored.empty())
    fmt::print("{} {} as it was before ralph's hooks were installed\n", file.shown,
               request.dry_run ? "would be" : "is");
  if (!kept.empty()) fmt::print("The file as it was: {}\n", shown_beside(file, kept));
  return true;
}

Result<bool> uninstall_commands(const Request& request) {
  if (!request.file.host->has_commands) return false;
  TRY_VALUE(const std::string folder, command_folder(request.file));
  std::vector<HookChange> changes;
  for (const CommandFile& command : command_files("ralph")) {
    const std::string path = join_path(folder, command.name);
    const auto text = is_regular_file(path) ? read_file(path) : Result<std::string>(std::string());
    if (!text || !is_ralphs_command_file(*text)) continue;
    if (!request.dry_run) TRY(remove_file(path));
    changes.push_back(change_of('-', command));
  }
  if (!changes.empty()) show_changes(request, shown_beside(request.file, folder), changes);
  if (!changes.empty() && !request.dry_run) ::rmdir(folder.c_str());  // if it is empty
  return !changes.empty();
}

void remove_empty_folders(const Request& request) {
  for (std::string path = request.file.folder; path != request.project && path.size() > 1; path = parent_path(path)) {
    if (::rmdir(path.c_str()) != 0) return;
  }
}

Result<int> uninstall(const Arguments& arguments) {
  TRY_VALUE(const Request request, install_request(arguments));
  TRY_VALUE(const bool hooks, uninstall_hooks(request));
  TRY_VALUE(const bool commands, uninstall_commands(request));
  // Install may have created a project's folders; the user's belong to the host.
  if ((hooks || commands) && !request.dry_run && !request.file.user) remove_empty_folders(request);
  if (!hooks && !commands) fmt::print("Nothing to do: {} has none of ralph's hooks.\n", request.file.shown);
  return 0;
}

}  // namespace

const Command kHooksInstall = {
    "hooks install",
    "Install ralph's hooks in the settings of a host, such as Claude Code.",
    R"(Merges the hooks into the host's settings in this folder (for claude: .claude/settings.json), or in your home
with --user. Everything else in the file stays exactly as it is, and a backup is kept next to it. Installing again
changes nothing; hooks that call another ralph are changed to call this one. If version 0.1 raised
CLAUDE_CODE_STOP_HOOK_BLOCK_CAP, that is undone: it is the only brake on Claude Code's own /goal.

For opencode, whose hooks are a program, ralph writes a file of its own: .opencode/plugin/ralph.js.)",
    "ralph hooks install\n"
    "ralph hooks install --commands --dry-run\n"
    "ralph hooks install --host codex --user",
    kInstallOptions,
    {},
    install,
};

const Command kHooksUninstall = {
    "hooks uninstall",
    "Remove ralph's hooks and commands from the settings of a host.",
    R"(Removes every hook that calls `ralph hooks`, everything that only these hooks needed, and the command files that
ralph wrote. If nothing else has changed since the installation, the file is restored byte for byte. A command that does
more than call ralph (`ralph hooks stop; bell`) is kept and reported.)",
    "ralph hooks uninstall\n"
    "ralph hooks uninstall --host gemini --user",
    kUninstallOptions,
    {},
    uninstall,
};

}  // namespace ralph::cli
