#include "cli/live_run.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "engine/outline.h"
#include "json/value.h"
#include "os/environment.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {
namespace {

// The run named in a held lock; nullopt if the lock is free.
std::optional<std::string> owner_of(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!fd || ::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  char buffer[4096];
  const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
  const auto owner = parse_json(std::string_view(buffer, n > 0 ? static_cast<size_t>(n) : 0), path);
  if (!owner) return std::nullopt;
  const auto id = find_string(*owner, "runId");
  return id ? std::optional(std::string(*id)) : std::nullopt;
}

}  // namespace

std::optional<std::string> live_run(const std::string& project) {
  if (auto id = owner_of(join_path(project, ".ralph/lock"))) return id;
  const std::string state = project_state_folder(Environment::of_this_process(), project);
  return state.empty() ? std::nullopt : owner_of(join_path(state, "lock"));
}

std::optional<KilledRun> killed_run(const std::string& project, const std::string& except) {
  const auto folders = list_runs(project);
  for (const RunFolder& folder : folders.value_or(std::vector<RunFolder>())) {
    if (folder.id == except) continue;
    const Outline run = outline_of(folder.path);
    if (run.start && run.start->way == WayIn::kSession) continue;
    if (run.began == WallTime{} || run.is_over() || live_run(project) == folder.id) return std::nullopt;
    return KilledRun{folder, run.began};
  }
  return std::nullopt;
}

}  // namespace ralph::cli
