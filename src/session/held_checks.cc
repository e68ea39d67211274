#include "session/held_checks.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "engine/checks.h"
#include "os/descriptors.h"
#include "os/files.h"
#include "os/guardian.h"
#include "os/process_end.h"
#include "os/process_tree.h"
#include "os/processes_linux.h"
#include "session/session_note.h"

namespace ralph {
namespace {

// Limits, in bytes, for the output of failing checks that the model gets: for all checks, and the minimum for each.
constexpr size_t kMostExcerpts = 6000;
constexpr size_t kLeastExcerpt = 500;

using Results = std::vector<record::GuardrailEnded>;

ProcessInfo process_of(int pid, unsigned long long start_time) {
  ProcessInfo process;
  process.pid = pid;
  process.start_time = start_time;
  return process;
}

class Collector : public NullListener {
 public:
  void on_record(const record::Record& record, const Progress&) override {
    if (const auto* ended = std::get_if<record::GuardrailEnded>(&record.body)) results.push_back(*ended);
  }
  Results results{};
};

// Creates a new folder such as "checks_3" in the run's folder, so no log is overwritten.
Result<std::string> new_folder(const CheckOrder& order) {
  for (int more = 0;; ++more) {
    const std::string name = fmt::format("checks_{}{}", order.iteration, more == 0 ? "" : fmt::format("_{}", more));
    const std::string path = join_path(order.folder, name);
    if (::mkdir(path.c_str(), 0777) == 0) return name;
    if (errno != EEXIST) return fail(ErrorKind::kIo, "cannot make {}: {}", path, errno_text(errno));
  }
}

record::GuardrailEnded cut_off(const std::string& command, int iteration, size_t index, const std::string& why) {
  record::GuardrailEnded ended;
  ended.iteration = iteration;
  ended.index = static_cast<std::int64_t>(index) + 1;
  ended.name = ended.command = command;
  ended.outcome = CheckOutcome::kInterrupted;
  ended.exit_code = -1;
  ended.feedback = fmt::format("Check \"{}\" did not finish: {}.", command,
                               why.empty() ? "it was ended from outside, or its time ran out" : why);
  return ended;
}

// nullopt if the checks were asked to stop: nobody needs the results. Fails if the session ends.
Result<std::optional<Results>> run_commands(const CheckOrder& order, const std::string& name, const ProcessInfo& host,
                                            int guardian) {
  const SystemClock clock;
  LinuxProcesses processes(clock, guardian);
  const Redactor redactor(order.environment.as_lines());
  Collector collector;
  Policy policy;
  policy.run_time_limit = kLongestChecks;
  TRY_VALUE(Run run, Run::open({join_path(order.run, name), join_path(order.folder, name)}, policy,
                               {processes, clock, redactor, collector, order.project, order.environment}));
  const Fd host_ends = when_ended(host);
  if (host_ends) processes.watch_descriptor(host_ends.get());
  run.handle_events_with([&](const Event& event) -> Status {
    if (!std::holds_alternative<DescriptorReady>(event)) return {};
    processes.watch_descriptor(-1);
    return fail(ErrorKind::kIo, "the session has ended");
  });
  TRY(run.note(record::IterationStarted{order.iteration}));
  std::vector<GuardrailSettings> checks;
  for (const std::string& command : order.commands) {
    GuardrailSettings& check = checks.emplace_back();
    check.command = command;
    check.timeout_seconds = static_cast<double>(kLongestChecks.count()) / 1000;
  }
  TRY(run_checks(run, {checks, std::max(kMostExcerpts / std::max<size_t>(checks.size(), 1), kLeastExcerpt)}));
  if (run.progress().stop_requests > 0) return std::optional<Results>();
  return std::optional(std::move(collector.results));
}

// Runs in a separate process, below its guardian.
Status run_held(const CheckOrder& order, const std::string& name, const ProcessInfo& host, const std::string& result,
                int guardian) {
  TRY_VALUE(const auto results, run_commands(order, name, host, guardian));
  if (!results) return {};
  json::object found{{"folder", to_json_string(name)}};
  json::array checks;
  for (const record::GuardrailEnded& ended : *results) checks.push_back(json_from(ended));
  found["checks"] = std::move(checks);
  if (order.criteria) {
    DiagnoseOrder asked{order.project, order.environment, *order.criteria, order.paths, Milliseconds(0), guardian};
    asked.outset = order.outset;
    TRY_VALUE(const Diagnosis diagnosis, diagnose(asked));
    json::array hiding;
    for (const record::ChangedFile& file : diagnosis.hiding) hiding.push_back(json_from(file));
    found["diagnosis"] = json::object{{"snapshot", json_from(diagnosis.snapshot)},
                                      {"unmet", to_json_array(diagnosis.unmet)},
                                      {"worst", to_json_string(diagnosis.worst)},
                                      {"hiding", std::move(hiding)}};
  }
  return replace_file(result, to_compact_json(found) + "\n", 0600);
}

// Best effort: without it, the checks did not finish for an unknown reason.
void note_failure(const std::string& name, const Error& error, const std::string& result) {
  const json::object failed{{"folder", to_json_string(name)}, {"error", to_json_string(error.message)}};
  static_cast<void>(replace_file(result, to_compact_json(failed) + "\n", 0600));
}

// The host waits until all its pipes are closed.
void detach_from_host() {
  leave_caller();
  release_descriptors(3, ~0U, Descriptors::kClose);
}

}  // namespace

bool HeldChecks::State::is_running() const {
  return start_time_of(pid) == start_time && start_time != 0 && !has_ended(process_of(pid, start_time));
}

std::optional<HeldChecks::State> HeldChecks::pending() const {
  if (!is_real_file(state_path())) return std::nullopt;
  const auto value = parse_json(read_file(state_path()).value_or(""), state_path());
  if (!value) return std::nullopt;
  State state = from_json<State>(*value);
  return state.pid > 0 ? std::optional(std::move(state)) : std::nullopt;
}

Result<HeldChecks::State> HeldChecks::start(const CheckOrder& order) const {
  end();
  TRY_VALUE(const std::string name, new_folder(order));
  const auto note = read_note(note_);
  const ProcessInfo host = note ? process_of(note->host, note->host_start) : ProcessInfo();
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorKind::kIo, "cannot start the checks: {}", errno_text(errno));
  if (pid == 0) {
    detach_from_host();
    const auto code = run_guarded([&](int guardian) {
      const Status held = run_held(order, name, host, result_path(), guardian);
      if (!held) note_failure(name, held.error(), result_path());
      return held ? 0 : 1;
    });
    if (!code) note_failure(name, code.error(), result_path());
    ::_exit(code.value_or(1));
  }
  State state{pid,        start_time_of(pid), name,           order.tree,
              order.stop, order.calls,        order.commands, order.criteria.has_value()};
  if (const Status written = replace_file(state_path(), to_compact_json(json_from(state)) + "\n", 0600); !written) {
    send_signal(process_of(pid, state.start_time), SIGQUIT);
    return tl::unexpected(written.error());
  }
  return state;
}

bool HeldChecks::wait(const State& state, MonotonicTime until) {
  // Checks may end before their start time was read. Then there is nothing to wait for.
  return !state.is_running() || wait_for_end(process_of(state.pid, state.start_time), until);
}

bool HeldChecks::take(const State& state) const {
  const auto now = pending();
  if (!now || now->folder != state.folder) return false;
  ::unlink(result_path().c_str());
  ::unlink(state_path().c_str());
  return true;
}

HeldChecks::Found HeldChecks::found(const State& state) const {
  Found found;
  json::value value;
  if (is_real_file(result_path()))
    value = parse_json(read_file(result_path()).value_or(""), "").value_or(json::value());
  // The file may be a late result of earlier checks that were ended.
  const bool fits = find_string(value, "folder") == state.folder;
  for (const json::value& one : items_of(fits ? find(value, "checks") : nullptr))
    found.checks.push_back(from_json<record::GuardrailEnded>(one));
  const std::string why(fits ? find_string(value, "error").value_or("") : "");
  const int iteration = found.checks.empty() ? 0 : static_cast<int>(found.checks.front().iteration);
  for (size_t i = found.checks.size(); i < state.commands.size(); ++i)
    found.checks.push_back(cut_off(state.commands[i], iteration, i, why));
  if (!state.criteria) return found;
  found.diagnosis.emplace();
  const json::value* said = fits ? find(value, "diagnosis") : nullptr;
  if (!said) {
    found.diagnosis->unmet = {"the diagnostics did not finish" + (why.empty() ? "" : ": " + why)};
    found.diagnosis->snapshot.unfinished = found.diagnosis->unmet;
    return found;
  }
  if (const json::value* snapshot = find(*said, "snapshot"))
    found.diagnosis->snapshot = from_json<diagnostics::Snapshot>(*snapshot);
  found.diagnosis->unmet = strings_of(find(*said, "unmet"));
  found.diagnosis->worst = find_string(*said, "worst").value_or("");
  for (const json::value& one : array_at(*said, "hiding"))
    found.diagnosis->hiding.push_back(from_json<record::ChangedFile>(one));
  return found;
}

void HeldChecks::end() const {
  if (const auto state = pending(); state && state->is_running()) {
    send_signal(process_of(state->pid, state->start_time), SIGQUIT);  // ends everything immediately
  }
  ::unlink(result_path().c_str());
  ::unlink(state_path().c_str());
}

}  // namespace ralph
