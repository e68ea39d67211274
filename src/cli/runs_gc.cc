// ralph runs gc: removes old runs of this project.
#include <array>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/live_run.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/resume.h"
#include "engine/outline.h"
#include "engine/resume.h"
#include "engine/watch.h"
#include "journal/writer.h"
#include "os/clock.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"older-than", 0, "DAYS", "Remove runs whose last record is older than this."},
    Option{"keep", 0, "N", "Keep the newest N runs, and remove the others."},
    Option{"max-mb", 0, "MB", "Remove the oldest runs until the rest are at most this large."},
    Option{"yes", 'y', "", "Really remove them; without it they are only listed."},
};

struct OldRun {
  RunFolder folder;
  std::uint64_t bytes = 0;
  WallTime last{};
  bool needed = false;  // alive, or the newest of its way in
};

// Does not follow symlinks, because an agent can create them there. A prompt that was used again is one file with
// several names.
std::uint64_t size_of(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::set<std::pair<dev_t, ino_t>> counted;
  std::error_code error;
  for (auto at = std::filesystem::recursive_directory_iterator(folder, error);
       !error && at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    struct stat info{};
    if (::lstat(at->path().c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode) || info.st_nlink < 2 || counted.emplace(info.st_dev, info.st_ino).second)
      bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  return bytes;
}

// Newest first.
std::vector<OldRun> old_runs(const std::string& project, const std::vector<RunFolder>& folders) {
  std::vector<OldRun> runs;
  std::set<WayIn> seen;
  const auto alive = live_run(project);
  for (const RunFolder& folder : folders) {
    OldRun run{folder, size_of(folder.path)};
    struct stat info{};
    const std::string journal = join_path(folder.path, kJournalFile);
    if (::lstat(journal.c_str(), &info) == 0 || ::lstat(folder.path.c_str(), &info) == 0)
      run.last = WallTime(std::chrono::seconds(info.st_mtim.tv_sec));
    const WayIn way = way_of(folder);
    // ralph trusts its copy of a plan only together with the journal of the plan's last run. The other newest runs can
    // be resumed.
    const bool newest = seen.insert(way).second;
    run.needed = newest || alive == folder.id || (way == WayIn::kSession && !outline_of(folder.path).is_over());
    runs.push_back(std::move(run));
  }
  return runs;
}

struct Limits {
  std::optional<long> days, keep, megabytes;
};

std::vector<OldRun> to_remove(std::vector<OldRun> runs, const Limits& limits, WallTime now) {
  std::uint64_t total = 0;
  std::vector<OldRun> removed;
  long kept = 0;
  for (OldRun& run : runs) {
    const bool old = limits.days && now - run.last > std::chrono::hours(24) * *limits.days;
    const bool many = limits.keep && kept >= *limits.keep;
    const bool large = limits.megabytes && total + run.bytes > static_cast<std::uint64_t>(*limits.megabytes) << 20;
    if (!run.needed && (old || many || large)) {
      removed.push_back(std::move(run));
      continue;
    }
    ++kept;
    total += run.bytes;
  }
  return removed;
}

// Logs of the run have a second name in .ralph, which would keep their space.
void remove_log_names(const std::string& project, const RunFolder& run) {
  const std::string folder = join_path(project, ".ralph");
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("guardrail_") || !name.ends_with(".log")) continue;
    const std::string path = join_path(folder, name);
    struct stat there{}, own{};
    if (::stat(path.c_str(), &there) != 0 || ::lstat(join_path(run.path, name).c_str(), &own) != 0) continue;
    if (there.st_dev == own.st_dev && there.st_ino == own.st_ino) ::unlink(path.c_str());
  }
}

Status remove(const std::string& project, const OldRun& run) {
  remove_log_names(project, run.folder);
  std::error_code error;
  std::filesystem::remove_all(run.folder.path, error);
  if (error) return fail(ErrorKind::kIo, "cannot remove {}: {}", run.folder.path, error.message());
  if (const std::string store = watched_store(project, run.folder.id); !store.empty())
    std::filesystem::remove_all(store, error);
  if (const std::string seal = seal_path(project, run.folder.id); !seal.empty()) {
    std::filesystem::remove_all(seal + std::string(kUnmaskedSuffix), error);
    ::unlink(seal.c_str());
  }
  return {};
}

Result<int> collect_runs(const Arguments& arguments) {
  TRY_VALUE(const Project place, enter_project());
  const std::string& project = place.folder;
  Limits limits;
  TRY_VALUE(limits.days, arguments.count("older-than"));
  TRY_VALUE(limits.keep, arguments.count("keep"));
  TRY_VALUE(limits.megabytes, arguments.count("max-mb"));
  if (!limits.days && !limits.keep && !limits.megabytes)
    return fail(ErrorKind::kUsage,
                "say which runs to remove: --older-than DAYS, --keep N, --max-mb MB, or several of them");
  TRY_VALUE(const std::vector<RunFolder> folders, list_runs(project));
  const std::vector<OldRun> gone = to_remove(old_runs(project, folders), limits, SystemClock().wall());
  std::uint64_t bytes = 0;
  for (const OldRun& run : gone) {
    if (arguments.has("yes")) TRY(remove(project, run));
    fmt::print("{}  {}\n", run.folder.id, human_bytes(run.bytes));
    bytes += run.bytes;
  }
  if (gone.empty()) {
    fmt::print("Nothing to remove: {}.\n", folders.empty()       ? "there are no runs in " + project
                                           : folders.size() == 1 ? "the run is kept"
                                                                 : fmt::format("all {} runs are kept", folders.size()));
    return 0;
  }
  const std::string what =
      fmt::format("{} of {}, {}", gone.size(), count_of(folders.size(), "run"), human_bytes(bytes));
  if (arguments.has("yes")) {
    fmt::print("Removed {}.\n", what);
  } else {
    fmt::print("{} would be removed. Add --yes to remove them\n", what);
  }
  return 0;
}

}  // namespace

const Command kRunsGc = {
    "runs gc",
    "Remove old runs of this project, by age, number or size.",
    "Lists what would be removed; removes it with --yes. Live runs, active session loops and the newest run of each\n"
    "kind are always kept. With several limits, a run is removed if any of them applies.",
    "ralph runs gc --older-than 30\n"
    "ralph runs gc --keep 20 --yes\n"
    "ralph runs gc --max-mb 500",
    kOptions,
    {},
    collect_runs,
};

}  // namespace ralph::cli
