// ralph task stop and ralph task done: end a task from outside.
#include <array>
#include <signal.h>

#include "base/text.h"
#include "cli/durations.h"
#include "cli/registry.h"
#include "cli/task_options.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/poll.h"
#include "os/process_tree.h"
#include "task/bus.h"
#include "task/task_state.h"

namespace ralph::cli {
namespace {

constexpr auto kStopOptions =
    joined(kTaskOptions, std::array{
                             Option{"wait", 0, "D", "How long to wait before killing it (default 15s)."},
                             Option{"json", 0, "", "Print the state of the task as JSON."},
                         });
constexpr auto kDoneOptions =
    joined(kTaskOptions, std::array{
                             Option{"message", 'm', "TEXT", "What was achieved; written to DONE."},
                             Option{"json", 0, "", "Print the state of the task as JSON."},
                         });

// Whether the supervisor ends in time: its lock is then free, or held by another supervisor.
bool ends_within(const TaskPlace& place, const LockOwner& supervisor, Milliseconds patience) {
  const SystemClock clock;
  const MonotonicTime deadline = clock.monotonic() + patience;
  for (;;) {
    const auto now = supervisor_of(place);
    if (!now || (now->pid != 0 && now->pid != supervisor.pid)) return true;
    if (clock.monotonic() >= deadline) return false;
    sleep_for(Milliseconds(5));
  }
}

// Kills the loop first, so that the guardian ends everything that is left and exits.
Status end_hard(const TaskPlace& place, const LockOwner& supervisor) {
  for (const int pid : {supervisor.loop, supervisor.pid}) {
    if (pid <= 0) continue;
    ::kill(pid, SIGKILL);
    if (ends_within(place, supervisor, Milliseconds(6'000))) return {};
  }
  return fail(ErrorKind::kIo, "task {}/{}: its supervisor (pid {}) could not be ended", place.project, place.task,
              supervisor.pid);
}

int tell_result(const TaskState& state, bool json, const std::string& line) {
  if (json) {
    fmt::print("{}", to_pretty_json(to_json(state)));
  } else {
    fmt::print("{}\n", line);
  }
  return 0;
}

Result<int> stop_task(const Arguments& arguments) {
  TRY_VALUE(const TaskPlace place, task_from(arguments));
  TRY_VALUE(const Milliseconds patience, duration_from(arguments, "wait", Milliseconds(15'000)));
  // The request is removed only by the next explicit `task run`, so nothing is restarted in between.
  const auto supervisor = supervisor_of(place);
  std::string how = "it was not running";
  if (supervisor) {
    TRY(write_file_atomically(place.stop_request(), fmt::format("{}\n", to_iso8601(SystemClock().wall()))));
    how = "stopped";
    if (!ends_within(place, *supervisor, patience)) {
      TRY(end_hard(place, *supervisor));
      how = "it did not stop in time and was killed";
    }
  }
  // What a killed supervisor left behind, if both of its processes were killed at once.
  if (const std::string id = run_id_of(place); !id.empty() && !supervisor_of(place)) {
    const SweepReport swept = end_processes_with("RALPH_RUN_ID=" + id, stop_gently());
    if (!swept.ended.empty()) how += fmt::format("; {} ended", count_of(swept.ended.size(), "leftover process"));
    if (!swept.survivors.empty())
      return fail(ErrorKind::kIo, "task {}/{}: pid {} could not be ended", place.project, place.task,
                  swept.survivors.front().pid);
  }
  TRY_VALUE(const TaskState state, state_of(place));
  return tell_result(state, arguments.has("json"), fmt::format("{}/{}: {}", place.project, place.task, how));
}

Result<int> done(const Arguments& arguments) {
  TRY_VALUE(const TaskPlace place, task_from(arguments));
  TRY_VALUE(const bool was_done, is_done(place));
  if (!was_done) {
    const std::string text(arguments.value("message").value_or("marked as done by 'ralph task done'"));
    TRY(write_file_atomically(place.done(), text + "\n"));
  }
  TRY_VALUE(const TaskState state, state_of(place));
  return tell_result(state, arguments.has("json"),
                     fmt::format("{}/{}: {}", place.project, place.task, was_done ? "it was done already" : "done"));
}

}  // namespace

const Command kTaskStop = {
    "task stop",
    "Stop a task's supervisor and everything that it started.",
    "Creates the file STOP-REQUESTED in the task's folder. The supervisor notices it at once, sends the agent SIGTERM\n"
    "and, after 5 seconds, SIGKILL, and restarts nothing. A supervisor that does not stop within --wait is killed.\n"
    "The next `ralph task run` continues the task.",
    "ralph task stop --root tasks --project shop --task cart",
    kStopOptions,
    {},
    stop_task,
};

const Command kTaskDone = {
    "task done",
    "Mark a task as done by creating the file DONE in its folder.",
    "The supervisor notices the file at once, gives the agent 30 seconds to end, waits for child runs, and exits\n"
    "with 0. Inside a task, the agent itself can run 'ralph task done' without options.",
    "ralph task done\n"
    "ralph task done --root tasks --project shop --task cart --message 'the cart keeps its items'",
    kDoneOptions,
    {},
    done,
};

}  // namespace ralph::cli
