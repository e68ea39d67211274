#include "settings/ralph_folder.h"

#include <cerrno>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr std::string_view kGitignore = "*\n!settings.json\n";

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, 40)) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    plain += good ? c : '_';
  }
  return plain;
}

std::string folder_in(const std::string& project) {
  const bool here = project.empty() || project == ".";
  return here ? std::string(kRalphFolder) : join_path(project, kRalphFolder);
}

}  // namespace

Status prepare_ralph_folder(const std::string& project) {
  TRY(restore_ralph_folder(project));
  remove_abandoned_writes(folder_in(project));
  return {};
}

Status restore_ralph_folder(const std::string& project) {
  const std::string folder = folder_in(project);
  struct stat info{};
  const bool there = ::lstat(folder.c_str(), &info) == 0;
  if (!there && ::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    return fail(ErrorKind::kIo, "cannot create the folder {}: {}", folder, errno_text(errno));
  if (!there && ::lstat(folder.c_str(), &info) != 0)
    return fail(ErrorKind::kIo, "cannot use the folder {}: {}", folder, errno_text(errno));
  if (S_ISLNK(info.st_mode))
    return fail(ErrorKind::kInput,
                "{} is a symbolic link; ralph writes only to a real folder, so replace the link with one", folder);
  if (!S_ISDIR(info.st_mode))
    return fail(ErrorKind::kInput, "{} is not a folder; move it away so that ralph can create one", folder);

  const std::string ignore = join_path(folder, ".gitignore");
  if (::lstat(ignore.c_str(), &info) == 0) return {};
  return write_file_atomically(ignore, kGitignore);
}

std::string state_folder(const Environment& environment) {
  const std::string folder = user_folder(environment, "XDG_STATE_HOME", ".local/state");
  return folder.empty() ? "" : join_path(folder, "ralph");
}

Status prepare_state_folder(const std::string& folder, std::string_view why) {
  constexpr std::string_view kRemedy = "correct that, or set XDG_STATE_HOME to a folder that you can write to";
  if (const Status made = make_directories(folder); !made)
    return fail(made.error().kind, "{} ({}); {}", made.error().message, why, kRemedy);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(ErrorKind::kIo, "cannot write to {}: {} ({}); {}", folder, errno_text(errno), why, kRemedy);
  return {};
}

std::string state_name(std::string_view name, std::string_view path) {
  return fmt::format("{}-{:016x}", plain_name(name), stable_hash(path));
}

std::string project_state_folder(const Environment& environment, const std::string& project) {
  const std::string state = state_folder(environment);
  return state.empty() ? "" : join_path(state, "projects/" + state_name(base_name(project), project));
}

std::string outer_lock(const Environment& environment, const std::string& project) {
  const std::string folder = project_state_folder(environment, project);
  return folder.empty() ? "" : join_path(folder, "lock");
}

std::string seal_path(const std::string& project, const std::string& run_id) {
  const std::string folder = project_state_folder(Environment::of_this_process(), project);
  return folder.empty() ? "" : join_path(folder, run_id);
}

std::string seal_of(const std::string& project, const std::string& run_id) {
  const std::string path = seal_path(project, run_id);
  return path.empty() ? "" : std::string(trim(read_file(path).value_or("")));
}

}  // namespace ralph
