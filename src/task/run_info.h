// run-info.yaml describes one attempt of a task. Written before its agent starts, once it runs, and after its end.
// Specified in docs/formats/task.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "base/words.h"
#include "task/place.h"

namespace ralph {

enum class AttemptStatus { kRunning, kCompleted, kFailed, kStopped };
template <>
inline constexpr auto kWords<AttemptStatus> = words({"running", "completed", "failed", "stopped"});

struct RunInfo {
  std::string run_id, parent_run_id, previous_run_id, project_id, task_id, agent;
  std::string ralph_run_id;              // the task's run that the attempt belongs to
  int pid = 0, pgid = 0;                 // 0: not started yet
  std::uint64_t process_start_time = 0;  // of the pid, in clock ticks since boot
  WallTime start_time{};
  std::optional<WallTime> end_time;
  int exit_code = -1;  // -1: unknown, or not ended
  AttemptStatus status = AttemptStatus::kRunning;
  std::string cwd, commandline, error_summary;
  std::string folder;  // the attempt's own

  std::string file(std::string_view name) const;  // in its folder
};

inline constexpr std::string_view kRunInfoFile = "run-info.yaml";

// Atomic: readers see the old content or the new.
Status write_run_info(const RunInfo& info);
Result<RunInfo> read_run_info(const std::string& folder);

// All readable attempts and child runs of a task, oldest first.
std::vector<RunInfo> run_infos_of(const TaskPlace& place);

// Whether its process is alive. Compares the start time too, because pids are reused.
bool is_alive(const RunInfo& info);

// Marks attempts as "failed" if their file says "running" but their process is dead and no supervisor is alive. Takes
// the task's lock, so it does not interfere with a supervisor that is just starting. Does nothing if the lock is taken.
// `locked`: the caller holds it.
Status correct_dead_attempts(const TaskPlace& place, bool locked = false);

// The same for one attempt that the caller knows to have ended.
Status correct_dead_attempt(RunInfo info, AttemptStatus status, const std::string& why, int exit_code = -1);

}  // namespace ralph
