#include "engine/decide.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow{Milliseconds(1'794'800'000'000)};

// What a host's session has said and done when it wants to stop.
struct Session {
  bool promised = false;
  std::optional<bool> worked{};
  int tool_calls = 0;
  int plan_problems = 0, objections = 0;
  bool mentioned = false;
  int idle = 0;
  bool cancelled = false;
  int background = 0;
  int checks = 0;  // of the loop
  bool needs_promise = true;
  bool ran = false, running = false, restarted = false;  // the checks
  std::optional<Observation::Diagnostics> tools{};
};

// One situation and its expected decision.
struct Row {
  const char* situation;
  Moment moment;
  Progress progress;
  const char* rule;
  Action action;
  StopStatus status = StopStatus::kNone;
  Policy policy{};
  Milliseconds run_time{0}, step_time{0}, quiet_time{0}, step_limit{0};
  int tools_running = 0;
  std::optional<Milliseconds> since_result{};
  double turn_cost_usd = 0;
  std::int64_t turn_tokens = 0;
  Session session{};
  bool changed = false;  // since the checks
  bool file_appeared = false;
  std::optional<Observation::Task> task{};
  std::string journal{};

  Observation observation() const {
    Observation now;
    now.moment = moment;
    now.clock = {run_time, step_time, quiet_time, step_limit, kNow, 0.5};
    now.turn = {tools_running, since_result, turn_cost_usd, turn_tokens};
    now.checks = {changed, session.ran, session.running, session.restarted};
    now.journal = journal;
    now.signals = {session.promised, session.worked, session.tool_calls};
    now.signals.file_appeared = file_appeared;
    now.signals.mentioned = session.mentioned;
    now.signals.idle = session.idle;
    now.signals.cancelled = session.cancelled;
    now.signals.background = session.background;
    now.plan = {session.plan_problems, session.objections};
    now.task = task;
    now.diagnostics = session.tools;
    return now;
  }
};

Progress at(int iteration) {
  Progress progress;
  progress.iteration = iteration;
  return progress;
}

Policy with_criteria() {
  Policy policy;
  policy.diagnostics.criteria.emplace();
  return policy;
}

// Snapshots with one error each, given by its message; the last one does not meet the criteria.
Progress diagnosed(std::initializer_list<const char*> messages) {
  Progress progress = at(1);
  for (const char* message : messages) {
    diagnostics::Report report;
    diagnostics::Finding finding;
    finding.message = message;
    report.add({"ruff", diagnostics::Kind::kErrors, diagnostics::CollectorStatus::kFindings}, {finding});
    const int iteration = static_cast<int>(progress.diagnosed.snapshots.size());
    add_snapshot(progress.diagnosed.snapshots, snapshot_of(report, {}, iteration, {}));
  }
  progress.diagnosed.unmet = {"1 error"};
  progress.guardrails_failed = {"diagnostics (1 error)"};
  return progress;
}

Observation::Task done_task() {
  Observation::Task task;
  task.done = true;
  return task;
}

Progress waiting(Progress progress, int minutes) {
  progress.host.waiting_since = kNow - std::chrono::minutes(minutes);
  return progress;
}

Progress answered(int iteration, std::optional<std::string> response, std::string_view outcome = "ok") {
  Progress progress = at(iteration);
  progress.attempts = 1;
  progress.turn_outcome = *from_word<TurnOutcome>(outcome);
  progress.response = std::move(response);
  return progress;
}

Progress failing(Progress progress, int passed = 0) {
  progress.guardrails_failed = {"make test"};
  progress.guardrails_passed = passed;
  return progress;
}

Progress asked_to_stop(Progress progress, int requests) {
  progress.stop_requests = requests;
  return progress;
}

Progress with_lost_tests(Progress progress) {
  progress.tests_lost = {"make test ran 8 tests; at the start of the run there were 10"};
  return progress;
}

Progress with_failed_commit(Progress progress) {
  progress.scm.failed = {"commit"};
  return progress;
}

Progress with_changed_file(Progress progress) {
  progress.watch.held = {"Makefile"};
  return progress;
}

Progress without_repository(Progress progress) {
  progress.watch.held = {".git"};
  return progress;
}

Progress with_head_of_no_commit(Progress progress) {
  progress.watch.held = {".git/HEAD"};
  return progress;
}

Progress crashed(int iteration, int attempts, const char* outcome = "crashed") {
  Progress progress = answered(iteration, "DONE", outcome);
  progress.attempts = attempts;
  progress.failed_attempts = attempts;
  progress.failed_turns_in_row = attempts;
  progress.turn_reason = "exit code 1";
  return progress;
}

Progress living(Progress progress) {
  progress.living_agent = "pid 4711: agent";
  return progress;
}

Progress failed_with(const char* outcome, int times = 1) {
  Progress progress = answered(1, "DONE", outcome);
  progress.turn_agent = "claude";
  progress.turn_reason = "claude: it says why";
  if (std::string_view(outcome) == "overloaded") progress.overloads_in_row = times;
  return progress;
}

Progress limited(std::optional<Milliseconds> from_now, int times = 1) {
  Progress progress = failed_with("usage_limit");
  progress.limited["claude"] = {from_now ? std::optional(kNow + *from_now) : std::nullopt, kNow, times};
  return progress;
}

Policy with_agents(std::vector<std::string> agents, Milliseconds run_limit = Milliseconds(0)) {
  Policy policy;
  policy.agents = std::move(agents);
  policy.run_time_limit = run_limit;
  return policy;
}

Policy with_budget(double dollars, std::int64_t tokens) {
  Policy policy;
  policy.max_cost_usd = dollars;
  policy.max_tokens = tokens;
  return policy;
}

Progress spent(double dollars, std::int64_t tokens, Progress progress) {
  progress.cost_usd = dollars;
  progress.tokens.output = tokens;
  return progress;
}

Policy for_a_session(PromiseWithoutWork without_work = PromiseWithoutWork::kReject) {
  Policy policy;
  policy.promise = true;
  policy.stagnation_limit = 3;
  policy.on_promise_no_work = without_work;
  return policy;
}

Progress losing_tests(Progress progress) {
  progress.tests_lost = {"make test ran 3 tests instead of 4"};
  return progress;
}

Row at_stop(const char* situation, Progress progress, const Session& session, const char* rule,
            PromiseWithoutWork without_work = PromiseWithoutWork::kReject) {
  const std::string_view name = rule;
  const bool limit = name == "continuations_spent" || name == "objections_spent";
  const bool complete =
      name == "promise_accepted" || name == "checks_passed" || name == "auto_clean" || name == "marked_complete";
  const StopStatus status = complete                                         ? StopStatus::kComplete
                            : name == "cancelled"                            ? StopStatus::kCancelled
                            : name == "stagnant" || name.ends_with("_stuck") ? StopStatus::kStagnant
                            : limit                                          ? StopStatus::kLimit
                                                                             : StopStatus::kNone;
  const Action action = name == "background_task_runs" ? Action::kWait
                        : name == "checks_due"         ? Action::kRunChecks
                        : name == "checks_running"     ? Action::kHold
                        : status == StopStatus::kNone  ? Action::kContinue
                                                       : Action::kStop;
  Row row{situation, Moment::kAtStop, std::move(progress), rule, action};
  row.status = status;
  row.policy = for_a_session(without_work);
  row.policy.checks = session.checks;
  row.policy.needs_promise = session.needs_promise;
  row.session = session;
  return row;
}

// A promise that would be accepted, but the run can't prove anything any more.
Row proving_nothing(const char* situation, Progress progress, const char* journal, const char* rule) {
  Row row = at_stop(situation, std::move(progress), {true, true, 3}, rule);
  row.action = Action::kStop;
  row.status = StopStatus::kFatal;
  row.journal = journal;
  return row;
}

Row after_changes(const char* situation, Progress progress, const char* rule, Action action,
                  StopStatus status = StopStatus::kNone) {
  Row row{situation, Moment::kBetweenSteps, std::move(progress), rule, action, status};
  row.changed = true;
  return row;
}

Row with_changed_journal(const char* situation, Progress progress, const char* rule, Action action,
                         StopStatus status = StopStatus::kNone) {
  Row row{situation, Moment::kAfterChecks, std::move(progress), rule, action, status};
  row.journal = "line 3 is damaged";
  return row;
}

Policy for_a_plan() {
  Policy policy;
  policy.plan = true;
  policy.promise = true;
  policy.completion_response = "COMPLETE";
  return policy;
}

Progress stories(int done, int of, Progress progress) {
  progress.plan.stories = of;
  progress.plan.done = done;
  for (int i = done + 1; i <= of; ++i) progress.plan.open.push_back(fmt::format("US-{:03}", i));
  return progress;
}

// Reviews in a row that wrote a verdict but did not state it.
Progress unsaid(int times) {
  Progress progress = stories(0, 1, at(times + 1));
  progress.plan.unsaid = times;
  progress.plan.story = "US-001";
  return progress;
}

Progress survived(Progress progress) {
  progress.survivors = {"pid 4711: sleep 1000"};
  return progress;
}

Policy with_run_limit(Milliseconds limit) {
  Policy policy;
  policy.run_time_limit = limit;
  return policy;
}

Policy with_idle_limit(Milliseconds limit) {
  Policy policy;
  policy.agent_idle_limit = limit;
  return policy;
}

Row with_file(Row row) {
  row.file_appeared = true;
  return row;
}

// A supervised task: the state of its folder, and the decision about it.
Row on_task(const char* situation, Moment moment, Progress progress, Observation::Task task, const char* rule,
            Action action, StopStatus status = StopStatus::kNone) {
  Row row{situation, moment, std::move(progress), rule, action, status};
  row.policy.retry_attempts = 1;
  row.task = std::move(task);
  return row;
}

Progress exited(int iteration, int code) {
  Progress progress = answered(iteration, std::nullopt, code == 0 ? "ok" : "crashed");
  progress.turn_exit_code = code;
  progress.turn_reason = fmt::format("exit code {}", code);
  return progress;
}

Policy of_a_child_run() {
  Policy policy;
  policy.single = true;
  policy.max_iterations = 1;
  return policy;
}

std::vector<Row> task_table() {
  const Moment kBefore = Moment::kBeforeIteration, kDuring = Moment::kDuringTurn, kAfter = Moment::kAfterChecks;
  const Action kGo = Action::kContinue, kStop = Action::kStop, kWait = Action::kWait, kEnd = Action::kEndNow;
  using enum StopStatus;
  return {
      on_task("a task that is not done may begin", kBefore, at(0), {}, "iteration_may_begin", kGo),
      on_task("one that is done may not", kBefore, at(0), {.done = true}, "task_done", kStop, kComplete),
      on_task("nor if it is done and at its limit", kBefore, at(10), {.done = true}, "task_done", kStop, kComplete),
      on_task("DONE after an attempt that failed", kAfter, exited(2, 1), {.done = true}, "task_done", kStop, kComplete),
      on_task("exit code 0 stops nothing", kAfter, exited(2, 0), {}, "task_restarts", kGo),
      on_task("nor does an answer", kAfter, answered(2, "DONE"), {}, "task_restarts", kGo),
      on_task("a DONE whose checks fail", kAfter, failing(exited(2, 0)), {.unproved = true}, "task_unproved", kGo),
      on_task("the same in the last attempt", kAfter, failing(exited(10, 0)), {.unproved = true}, "restarts_spent",
              kStop, kLimit),
      on_task("a DONE with a changed protected file", kAfter, with_changed_file(exited(2, 0)), {.done = true},
              "task_restarts", kGo),
      on_task("the same when it was taken back", kAfter, with_changed_file(exited(2, 0)), {.unproved = true},
              "task_unproved", kGo),
      on_task("the last attempt without DONE", kAfter, exited(10, 0), {}, "restarts_spent", kStop, kLimit),
      on_task("DONE in the last attempt counts", kAfter, exited(10, 0), {.done = true}, "task_done", kStop, kComplete),
      on_task("a restart waits", kBefore, exited(2, 1), {.since_attempt = 400ms}, "task_restart_delay", kWait),
      on_task("and begins when the delay is over", kBefore, exited(2, 1), {.since_attempt = 1s}, "iteration_may_begin",
              kGo),
      on_task("DONE during the delay", kBefore, exited(2, 1), {.done = true, .since_attempt = 400ms}, "task_done",
              kStop, kComplete),
      on_task("child runs are awaited", kBefore, exited(2, 0), {.done = true, .children = 2, .since_awaiting = 10s},
              "task_children_awaited", kWait),
      on_task("also right after the attempt", kAfter, exited(2, 0), {.done = true, .children = 2, .since_awaiting = 0s},
              "task_children_left", kGo),
      on_task("but not for ever", kBefore, exited(2, 0), {.done = true, .children = 2, .since_awaiting = 300s},
              "task_children_overdue", kStop, kComplete),
      on_task("child runs without DONE hinder no restart", kBefore, exited(2, 0), {.children = 2},
              "iteration_may_begin", kGo),
      on_task("exit code 42", kAfter, exited(2, 42), {}, "task_waits_for_person", kStop, kWaiting),
      on_task("exit code 42 in an earlier process", kBefore, exited(2, 42), {}, "iteration_may_begin", kGo),
      on_task("a message or a marker that says so", kAfter, exited(2, 0), {.waits = "on the bus"},
              "task_waits_for_person", kStop, kWaiting),
      on_task("a marker during the delay", kBefore, exited(2, 0), {.waits = "marker", .since_attempt = 1ms},
              "task_waits_for_person", kStop, kWaiting),
      on_task("DONE outranks waiting", kAfter, exited(2, 42), {.done = true, .waits = "marker"}, "task_done", kStop,
              kComplete),
      on_task("STOP-REQUESTED between attempts", kBefore, exited(2, 0), {.stop_asked = true}, "task_stop_asked", kStop,
              kInterrupted),
      on_task("STOP-REQUESTED while child runs are awaited", kBefore, exited(2, 0),
              {.done = true, .stop_asked = true, .children = 1}, "task_stop_asked", kStop, kInterrupted),
      on_task("STOP-REQUESTED while the agent runs", kDuring, at(2), {.stop_asked = true},
              "task_stop_asked_while_running", kEnd),
      on_task("a signal between attempts", kBefore, asked_to_stop(exited(2, 0), 1), {.done = true}, "stop_requested",
              kStop, kInterrupted),
      on_task("DONE while the agent runs", kDuring, at(2), {.done = true, .since_done = 29s}, "running", kGo),
      on_task("DONE for 30 seconds while it runs", kDuring, at(2), {.done = true, .since_done = 30s},
              "task_done_while_running", kEnd),
      on_task("DONE that is a directory", kBefore, at(0), {.unusable = "DONE is a directory"}, "task_unusable", kStop,
              kFatal),
      on_task("the same after an attempt", kAfter, exited(1, 0), {.unusable = "DONE is a directory"}, "task_unusable",
              kStop, kFatal),
      on_task("a task that it depends on is not done", kBefore, at(0), {.open = {"other"}}, "task_depends", kWait),
      {"a child run has one attempt", kAfter, exited(1, 0), "job_ended", kStop, kComplete, of_a_child_run()},
      {"whatever comes of it", kAfter, exited(1, 3), "job_ended", kStop, kFatal, of_a_child_run()},
  };
}

std::vector<Row> loop_table();

std::vector<Row> table() {
  std::vector<Row> rows = loop_table();
  for (Row& row : task_table()) rows.push_back(std::move(row));
  return rows;
}

std::vector<Row> loop_table() {
  using enum Moment;
  using enum Action;
  using enum StopStatus;
  using enum PromiseWithoutWork;
  return {
      {"a fresh run may begin", kBeforeIteration, at(0), "iteration_may_begin", kContinue},
      {"a resumed run whose iterations are spent may not", kBeforeIteration, at(10), "iterations_spent", kStop, kLimit},
      {"a stop request before an iteration", kBeforeIteration, asked_to_stop(at(1), 1), "stop_requested", kStop,
       kInterrupted},
      {"time over before an iteration", kBeforeIteration, at(1), "run_time_spent", kStop, kLimit, with_run_limit(60s),
       60s},

      with_file({"a file that is waited for", kDuringTurn, at(1), "awaited_file_appeared", kEndNow}),
      with_file(
          {"a file that is waited for, before a retry", kAfterTurn, crashed(1, 1), "awaited_file_is_there", kContinue}),
      {"an agent that works goes on", kDuringTurn, at(1), "running", kContinue},
      {"the first stop request lets it finish", kDuringTurn, asked_to_stop(at(1), 1), "running", kContinue},
      {"the second ends it", kDuringTurn, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},
      {"the second ends a guardrail too", kDuringCheck, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},
      {"an agent within its time", kDuringTurn, at(1), "running", kContinue, kNone, {}, 9s, 9s, 0s, 10s},
      {"an agent over its time", kDuringTurn, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"a guardrail over its time", kDuringCheck, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"an agent that was quiet for long", kDuringTurn, at(1), "agent_idle", kEndNow, kNone, with_idle_limit(5s), 9s,
       9s, 5s},
      {"a guardrail may be quiet", kDuringCheck, at(1), "running", kContinue, kNone, with_idle_limit(5s), 9s, 9s, 9s},
      {"the run's time is over while the agent works", kDuringTurn, at(1), "run_time_spent_while_running", kEndNow,
       kNone, with_run_limit(60s), 60s},
      {"it may be over while ralph asks git", kDuringLook, at(1), "running", kContinue, kNone, with_run_limit(60s),
       60s},
      {"git over its time", kDuringLook, at(1), "step_time_spent", kEndNow, kNone, {}, 10s, 10s, 0s, 10s},
      {"the second stop request ends git too", kDuringLook, asked_to_stop(at(1), 2), "stop_demanded", kEndNow},

      {"a turn that went well leads to the guardrails", kAfterTurn, answered(1, "DONE"), "turn_ended", kContinue},
      {"a crash is tried again", kAfterTurn, crashed(1, 1), "agent_failed_retry", kRetry},
      {"and again, three times", kAfterTurn, crashed(1, 3), "agent_failed_retry", kRetry},
      {"then its iteration is spent", kAfterTurn, crashed(1, 4), "turn_ended", kContinue},
      {"an agent that is away for a moment is tried again", kAfterTurn, crashed(1, 3, "not_started"),
       "agent_failed_retry", kRetry},
      {"one that stays away ends the run", kAfterTurn, crashed(1, 4, "not_started"), "agent_not_started", kStop,
       kFatal},
      {"an agent that could not be ended has no successor", kAfterTurn, living(answered(1, "DONE")), "agent_lives",
       kStop, kFatal},
      {"and completes nothing", kAfterChecks, living(answered(1, "DONE")), "agent_lives", kStop, kFatal},
      {"silence is tried again", kAfterTurn, crashed(1, 1, "empty"), "agent_failed_retry", kRetry},
      {"a timed-out turn is not: its work is checked", kAfterTurn, crashed(1, 1, "timed_out"), "turn_ended", kContinue},
      {"no retry after a stop request", kAfterTurn, asked_to_stop(crashed(1, 1), 1), "stop_requested", kStop,
       kInterrupted},
      {"no retry when the time is over", kAfterTurn, crashed(1, 1), "run_time_spent", kStop, kLimit,
       with_run_limit(60s), 61s},
      {"a stop request keeps even a good turn from going on", kAfterTurn, asked_to_stop(answered(1, "DONE"), 1),
       "stop_requested", kStop, kInterrupted},

      {"an agent that waits for its tool is not idle", kDuringTurn, at(1), "running", kContinue, kNone,
       with_idle_limit(5s), 9s, 9s, 9s, 0s, 1},
      {"an agent that has just given its result may tidy up",
       kDuringTurn,
       at(1),
       "running",
       kContinue,
       kNone,
       {},
       9s,
       9s,
       5s,
       0s,
       0,
       5s},
      {"an agent that stays long after its result is ended",
       kDuringTurn,
       at(1),
       "agent_lingers",
       kEndNow,
       kNone,
       {},
       99s,
       99s,
       30s,
       0s,
       0,
       30s},
      {"a turn within the budget",
       kDuringTurn,
       spent(4, 0, at(1)),
       "running",
       kContinue,
       kNone,
       with_budget(5, 0),
       9s,
       9s,
       0s,
       0s,
       0,
       {},
       0.9},
      {"a turn that spends the rest of the money",
       kDuringTurn,
       spent(4, 0, at(1)),
       "budget_spent_while_running",
       kEndNow,
       kNone,
       with_budget(5, 0),
       9s,
       9s,
       0s,
       0s,
       0,
       {},
       1.0},
      {"a turn whose result tells that the money is spent may end", kDuringTurn, spent(4, 0, at(1)), "running",
       kContinue, kNone, with_budget(5, 0), 9s, 9s, 0s, 0s, 0, 0s, 1.0},
      {"a turn that spends the rest of the tokens",
       kDuringTurn,
       spent(0, 900, at(1)),
       "budget_spent_while_running",
       kEndNow,
       kNone,
       with_budget(0, 1000),
       9s,
       9s,
       0s,
       0s,
       0,
       {},
       0,
       100},
      {"no iteration after the money is spent", kBeforeIteration, spent(5, 0, at(1)), "budget_spent", kStop, kLimit,
       with_budget(5, 0)},
      {"a good turn that spent the last money is checked", kAfterTurn, spent(5, 0, answered(1, "DONE")), "turn_ended",
       kContinue, kNone, with_budget(5, 0)},
      {"a guardrail costs nothing", kDuringCheck, spent(5, 0, at(1)), "running", kContinue, kNone, with_budget(5, 0)},
      {"after its checks it is the limit", kAfterChecks, failing(spent(5, 0, answered(1, "DONE"))), "budget_spent",
       kStop, kLimit, with_budget(5, 0)},
      {"no retry when the money is spent", kAfterTurn, spent(5, 0, crashed(1, 1)), "budget_spent", kStop, kLimit,
       with_budget(5, 0)},
      {"complete although the money is spent", kAfterChecks, spent(5, 0, answered(1, "DONE")), "complete", kStop,
       kComplete, with_budget(5, 0)},
      {"an agent that stopped itself at our budget", kAfterTurn, failed_with("max_budget"), "budget_spent", kStop,
       kLimit, with_budget(5, 0)},
      {"an agent that stopped itself at its own", kAfterTurn, failed_with("max_budget"), "turn_ended", kContinue},
      {"no valid key ends the run", kAfterTurn, failed_with("authentication"), "agent_refused", kStop, kFatal},
      {"no credit does", kAfterTurn, failed_with("billing"), "agent_refused", kStop, kFatal},
      {"no such model does", kAfterTurn, failed_with("model_not_found"), "agent_refused", kStop, kFatal},
      {"a prompt that the agent does not take does", kAfterTurn, failed_with("refused"), "agent_refused", kStop,
       kFatal},
      {"no permission does", kAfterTurn, failed_with("permission_denied"), "agent_refused", kStop, kFatal},
      {"a full run does not: its work is checked", kAfterTurn, failed_with("context_exhausted"), "turn_ended",
       kContinue},
      {"nor do its own turns being used up", kAfterTurn, failed_with("max_turns"), "turn_ended", kContinue},
      {"a turn that failed so completes nothing", kAfterChecks, failed_with("max_turns"), "not_answered", kContinue},
      {"an overloaded service is asked again", kAfterTurn, failed_with("overloaded"), "agent_overloaded", kRetry},
      {"eight times", kAfterTurn, failed_with("overloaded", 8), "agent_overloaded", kRetry},
      {"then the iteration is spent", kAfterTurn, failed_with("overloaded", 9), "turn_ended", kContinue},
      {"a usage limit is waited for", kAfterTurn, limited(2h), "agent_limited", kWait, kNone, with_agents({"claude"})},
      {"one that ends at an unknown time too", kAfterTurn, limited({}), "agent_limited", kWait, kNone,
       with_agents({"claude"})},
      {"one that is over already is not", kAfterTurn, limited(-1s), "agent_limited", kRetry, kNone,
       with_agents({"claude"})},
      {"unless it is met again", kAfterTurn, limited(-1s, 2), "agent_limited", kWait, kNone, with_agents({"claude"})},
      {"another agent goes on meanwhile", kAfterTurn, limited(2h), "agent_limited", kRetry, kNone,
       with_agents({"claude", "codex"})},
      {"also if it hit its limit again after the announced end", kAfterTurn, limited(-1s, 2), "agent_limited", kRetry,
       kNone, with_agents({"claude", "codex"})},
      {"one that ends after the run's time is the limit", kAfterTurn, limited(2h), "agent_limited", kStop, kLimit,
       with_agents({"claude"}, 3600s)},
      {"one that ends in days is the limit", kAfterTurn, limited(48h), "agent_limited", kStop, kLimit,
       with_agents({"claude"})},
      {"no waiting after a stop request", kAfterTurn, asked_to_stop(limited(2h), 1), "stop_requested", kStop,
       kInterrupted, with_agents({"claude"})},

      {"one step follows another", kBetweenSteps, answered(1, "DONE"), "step_ended", kContinue},
      after_changes("what was changed after the checks is checked", answered(1, "DONE"), "changed_since_checks",
                    kCheckAgain),
      after_changes("but not after a stop request", asked_to_stop(answered(1, "DONE"), 1), "stop_requested", kStop,
                    kInterrupted),
      {"unless a stop was requested", kBetweenSteps, asked_to_stop(answered(1, "DONE"), 1), "stop_requested", kStop,
       kInterrupted},

      {"all passed and answered: complete", kAfterChecks, answered(1, "DONE"), "complete", kStop, kComplete},
      {"case does not matter", kAfterChecks, answered(1, "done"), "complete", kStop, kComplete},
      {"nor do blanks around it", kAfterChecks, answered(1, " Done "), "complete", kStop, kComplete},
      {"complete in the last allowed iteration is complete", kAfterChecks, answered(10, "DONE"), "complete", kStop,
       kComplete},
      {"complete although the time has just run out", kAfterChecks, answered(1, "DONE"), "complete", kStop, kComplete,
       with_run_limit(60s), 61s},
      {"a failing guardrail outranks the answer", kAfterChecks, failing(answered(1, "DONE")), "checks_failed",
       kContinue},
      {"one failing among passing ones does too", kAfterChecks, failing(answered(1, "DONE"), 3), "checks_failed",
       kContinue},
      {"a failing guardrail in the last iteration is the limit", kAfterChecks, failing(answered(10, "DONE")),
       "iterations_spent", kStop, kLimit},
      {"fewer tests than at the start do too", kAfterChecks, with_lost_tests(answered(1, "DONE")), "tests_lost",
       kContinue},
      {"a failing guardrail is reported before lost tests", kAfterChecks, with_lost_tests(failing(answered(1, "DONE"))),
       "checks_failed", kContinue},
      {"lost tests in the last iteration are the limit", kAfterChecks, with_lost_tests(answered(10, "DONE")),
       "iterations_spent", kStop, kLimit},
      {"a failed commit outranks the answer", kAfterChecks, with_failed_commit(answered(1, "DONE")), "scm_failed",
       kContinue},
      {"a failed commit in the last iteration is the limit", kAfterChecks, with_failed_commit(answered(10, "DONE")),
       "iterations_spent", kStop, kLimit},
      {"a repository that is gone ends the run", kAfterChecks, without_repository(answered(1, "DONE")),
       "repository_gone", kStop, kFatal},
      {"before anything is checked", kBetweenSteps, without_repository(answered(1, "DONE")), "repository_gone", kStop,
       kFatal},
      with_changed_journal("a journal that somebody changed proves nothing", answered(1, "DONE"), "journal_changed",
                           kStop, kFatal),
      with_changed_journal("whatever the iteration came to", failing(answered(1, "DONE")), "journal_changed", kStop,
                           kFatal),
      {"a HEAD without a commit can be mended", kAfterChecks, with_head_of_no_commit(answered(1, "DONE")),
       "files_changed", kContinue},
      {"a changed file that must not change outranks the answer", kAfterChecks, with_changed_file(answered(1, "DONE")),
       "files_changed", kContinue},
      {"diagnostics without improvement end the run", kAfterChecks, diagnosed({"a", "a", "a", "a"}),
       "diagnostics_stagnant", kStop, kStagnant, with_criteria()},
      {"diagnostics that come back do too", kAfterChecks, diagnosed({"a", "b", "a"}), "diagnostics_stagnant", kStop,
       kStagnant, with_criteria()},
      {"diagnostics that get better do not", kAfterChecks, diagnosed({"a", "b", "c", "d"}), "checks_failed", kContinue,
       kNone, with_criteria()},
      {"without criteria they are nobody's business", kAfterChecks, diagnosed({"a", "a", "a", "a"}), "checks_failed",
       kContinue},
      {"DONE does not count while criteria do not hold",
       kAfterChecks,
       diagnosed({"a"}),
       "task_restarts",
       kContinue,
       kNone,
       with_criteria(),
       {},
       {},
       {},
       {},
       0,
       {},
       0,
       0,
       {},
       false,
       false,
       done_task()},
      {"nor before anything was looked at",
       kBeforeIteration,
       at(0),
       "iteration_may_begin",
       kContinue,
       kNone,
       with_criteria(),
       {},
       {},
       {},
       {},
       0,
       {},
       0,
       0,
       {},
       false,
       false,
       done_task()},
      {"another answer is no completion", kAfterChecks, answered(1, "ALMOST DONE"), "not_answered", kContinue},
      {"no answer is no completion", kAfterChecks, answered(1, std::nullopt), "not_answered", kContinue},
      {"an empty answer is no completion", kAfterChecks, answered(1, ""), "not_answered", kContinue},
      {"a crashed turn's answer does not count", kAfterChecks, crashed(1, 4), "not_answered", kContinue},
      {"a timed-out turn's answer does not count", kAfterChecks, crashed(1, 1, "timed_out"), "not_answered", kContinue},
      {"the last iteration without an answer is the limit", kAfterChecks, answered(10, std::nullopt),
       "iterations_spent", kStop, kLimit},
      {"a stop request outranks completion", kAfterChecks, asked_to_stop(answered(1, "DONE"), 1), "stop_requested",
       kStop, kInterrupted},
      {"time over after the checks", kAfterChecks, failing(answered(1, "DONE")), "run_time_spent", kStop, kLimit,
       with_run_limit(60s), 61s},

      {"all stories done and promised: the plan is complete", kAfterChecks, stories(2, 2, answered(3, "COMPLETE")),
       "plan_complete", kStop, kComplete, for_a_plan()},
      {"without a promise too", kAfterChecks, stories(2, 2, answered(3, std::nullopt)), "plan_complete", kStop,
       kComplete, for_a_plan()},
      {"even after a turn that crashed", kAfterChecks, stories(2, 2, crashed(3, 4)), "plan_complete", kStop, kComplete,
       for_a_plan()},
      {"in the last allowed iteration too", kAfterChecks, stories(2, 2, answered(10, std::nullopt)), "plan_complete",
       kStop, kComplete, for_a_plan()},
      {"a plan that was done before any agent worked", kAfterChecks, stories(2, 2, at(0)), "plan_complete", kStop,
       kComplete, for_a_plan()},
      {"a failing check outranks all stories", kAfterChecks, failing(stories(2, 2, answered(3, "COMPLETE"))),
       "checks_failed", kContinue, kNone, for_a_plan()},
      {"fewer tests do too", kAfterChecks, with_lost_tests(stories(2, 2, answered(3, "COMPLETE"))), "tests_lost",
       kContinue, kNone, for_a_plan()},
      {"so does a failed push", kAfterChecks, with_failed_commit(stories(2, 2, answered(3, "COMPLETE"))), "scm_failed",
       kContinue, kNone, for_a_plan()},
      {"so does a changed file", kAfterChecks, with_changed_file(stories(2, 2, answered(3, "COMPLETE"))),
       "files_changed", kContinue, kNone, for_a_plan()},
      {"a stop request does", kAfterChecks, asked_to_stop(stories(2, 2, answered(3, "COMPLETE")), 1), "stop_requested",
       kStop, kInterrupted, for_a_plan()},
      {"a promise alone completes nothing", kAfterChecks, stories(1, 2, answered(3, "COMPLETE")), "promise_too_early",
       kContinue, kNone, for_a_plan()},
      {"one of an agent that was ended is none", kAfterChecks, stories(1, 2, answered(3, "COMPLETE", "timed_out")),
       "stories_left", kContinue, kNone, for_a_plan()},
      {"a promise in another case is none", kAfterChecks, stories(1, 2, answered(3, "complete")), "stories_left",
       kContinue, kNone, for_a_plan()},
      {"a plan without any story is never complete", kAfterChecks, stories(0, 0, answered(3, "COMPLETE")),
       "promise_too_early", kContinue, kNone, for_a_plan()},
      {"stories are left", kAfterChecks, stories(1, 2, answered(3, std::nullopt)), "stories_left", kContinue, kNone,
       for_a_plan()},
      {"stories are left after the last iteration", kAfterChecks, stories(1, 2, answered(10, "COMPLETE")),
       "iterations_spent", kStop, kLimit, for_a_plan()},
      {"the answer of a prompt loop is no end of a plan", kAfterChecks, stories(1, 2, answered(3, "DONE")),
       "stories_left", kContinue, kNone, for_a_plan()},
      {"one review that wrote a verdict without saying it", kAfterChecks, unsaid(1), "stories_left", kContinue, kNone,
       for_a_plan()},
      {"two in a row", kAfterChecks, unsaid(2), "verdict_unsaid", kStop, kLimit, for_a_plan()},
      {"a process of an agent lives on", kAfterTurn, survived(at(3)), "earlier_agent_lives", kStop, kFatal,
       for_a_plan()},
      {"with it nothing is complete", kAfterChecks, survived(stories(2, 2, answered(3, "COMPLETE"))),
       "earlier_agent_lives", kStop, kFatal, for_a_plan()},
      {"other loops only report it", kAfterTurn, survived(answered(3, "DONE")), "turn_ended", kContinue, kNone},
      // A host's session wants to stop.
      at_stop("no promise", at(0), {}, "promise_missing"),
      at_stop("a promise and work", at(0), {true, true, 3}, "promise_accepted"),
      at_stop("a promise, and nobody knows of work", at(0), {true, std::nullopt, 0}, "promise_accepted"),
      at_stop("a promise without work", at(0), {true, false, 0}, "promise_without_work"),
      at_stop("one that is accepted with a warning", at(0), {true, false, 0}, "promise_accepted", kWarn),
      at_stop("one that is accepted", at(0), {true, false, 0}, "promise_accepted", kAccept),
      at_stop("work without a promise", at(9), {false, true, 30}, "promise_missing"),
      at_stop("the last allowed iteration", at(10), {false, true, 30}, "continuations_spent"),
      at_stop("a promise in it", at(10), {true, true, 30}, "promise_accepted"),
      at_stop("a promise without work in it", at(10), {true, false, 0}, "continuations_spent"),
      at_stop("past the last allowed iteration", at(11), {}, "continuations_spent"),
      at_stop("a plan out of order", at(0), {true, true, 3, 2, 0}, "plan_out_of_order"),
      at_stop("one that it was sent back to seven times", at(0), {true, true, 3, 1, 7}, "plan_out_of_order"),
      at_stop("one that it was sent back to eight times", at(0), {true, true, 3, 1, 8}, "objections_spent"),
      at_stop("a plan that is in order again", at(0), {false, true, 3, 0, 8}, "promise_missing"),
      at_stop("a promise that is mentioned", at(0), {.worked = true, .tool_calls = 3, .mentioned = true},
              "promise_mentioned"),
      at_stop("one in the last allowed iteration", at(10), {.mentioned = true}, "continuations_spent"),
      at_stop("a mention beside the promise", at(0), {.promised = true, .worked = true, .mentioned = true},
              "promise_accepted"),
      at_stop("a promise with a changed protected file", with_changed_file(at(2)), {true, true, 3}, "files_held"),
      at_stop("one whose checks pass", with_changed_file(at(2)),
              {.promised = true, .worked = true, .checks = 1, .ran = true}, "files_held"),
      at_stop("one whose checks fail", failing(with_changed_file(at(2))),
              {.promised = true, .worked = true, .checks = 1, .ran = true}, "checks_unmet"),
      at_stop("checks without a promise", with_changed_file(at(2)), {.checks = 1, .needs_promise = false, .ran = true},
              "files_held"),
      at_stop("a changed protected file and no promise", with_changed_file(at(2)), {}, "promise_missing"),
      at_stop("a promise with a changed file in the last iteration", with_changed_file(at(10)), {true, true, 3},
              "continuations_spent"),
      proving_nothing("a promise without a repository", without_repository(at(2)), "", "repository_gone"),
      proving_nothing("a promise with a changed journal", at(2), "line 3 is damaged", "journal_changed"),
      at_stop("two continuations without a tool call", at(2), {.idle = 2}, "promise_missing"),
      at_stop("three of them", at(3), {.idle = 3}, "stagnant"),
      at_stop("three, the last with a promise", at(3), {.promised = true, .worked = false, .idle = 3}, "stagnant"),
      at_stop("three, and the promise is kept", at(3), {.promised = true, .worked = true, .idle = 3},
              "promise_accepted"),
      at_stop("three, in the last allowed iteration", at(10), {.idle = 3}, "continuations_spent"),
      at_stop("a cancel that nobody heard", at(3), {.idle = 3, .cancelled = true}, "cancelled"),
      at_stop("a cancel in the last allowed iteration", at(10), {.cancelled = true}, "cancelled"),
      at_stop("a cancel after the work is done", at(3), {.promised = true, .worked = true, .cancelled = true},
              "promise_accepted"),
      at_stop("a task in the background", at(3), {.background = 1}, "background_task_runs"),
      at_stop("one in the last allowed iteration", at(10), {.background = 1}, "background_task_runs"),
      at_stop("one beside a promise without work", at(3), {.promised = true, .worked = false, .background = 1},
              "promise_without_work"),
      at_stop("one that is waited for since nine minutes", waiting(at(3), 9), {.background = 1},
              "background_task_runs"),
      at_stop("one that is waited for since ten minutes", waiting(at(3), 10), {.background = 1}, "promise_missing"),
      at_stop("a promise whose checks have not run", at(0), {.promised = true, .worked = true, .checks = 1},
              "checks_due"),
      at_stop("no promise: nothing is checked", at(0), {.worked = true, .checks = 1}, "promise_missing"),
      at_stop("a promise without work: the same", at(0), {.promised = true, .worked = false, .checks = 1},
              "promise_without_work"),
      at_stop("a promise, and the checks pass", at(10), {.promised = true, .worked = true, .checks = 1, .ran = true},
              "promise_accepted"),
      at_stop("a promise, and a check fails", failing(at(3)),
              {.promised = true, .worked = true, .checks = 1, .ran = true}, "checks_unmet"),
      at_stop("a promise, and a test is gone", losing_tests(at(3)),
              {.promised = true, .worked = true, .checks = 1, .ran = true}, "checks_unmet"),
      at_stop("the same in the last iteration", failing(at(10)),
              {.promised = true, .worked = true, .checks = 1, .ran = true}, "continuations_spent"),
      at_stop("a failure of an earlier stop", failing(at(3)), {.promised = true, .worked = true, .checks = 1},
              "checks_due"),
      at_stop("a check that takes long", at(10), {.promised = true, .worked = true, .checks = 1, .running = true},
              "checks_running"),
      at_stop("one that takes long is no stagnation", at(3),
              {.promised = true, .worked = true, .idle = 3, .checks = 1, .running = true}, "checks_running"),
      at_stop("one whose files were changed", at(3),
              {.promised = true, .worked = true, .checks = 1, .running = true, .restarted = true}, "checks_unfinished"),
      at_stop("that in the last iteration", at(10),
              {.promised = true, .worked = true, .checks = 1, .running = true, .restarted = true},
              "continuations_spent"),
      at_stop("a cancel while a check runs", at(3),
              {.promised = true, .worked = true, .cancelled = true, .checks = 1, .running = true}, "cancelled"),
      at_stop("a cancel before the checks", at(3), {.promised = true, .worked = true, .cancelled = true, .checks = 1},
              "cancelled"),
      at_stop("without a promise every stop is checked", at(0), {.checks = 1, .needs_promise = false}, "checks_due"),
      at_stop("but not while a background task runs", at(0), {.background = 1, .checks = 1, .needs_promise = false},
              "background_task_runs"),
      at_stop("without a promise, and the checks pass", at(3), {.checks = 1, .needs_promise = false, .ran = true},
              "checks_passed"),
      at_stop("without a promise, and one fails", failing(at(3)), {.checks = 1, .needs_promise = false, .ran = true},
              "checks_unmet"),
      at_stop("the same without a tool call", failing(at(3)),
              {.idle = 3, .checks = 1, .needs_promise = false, .ran = true}, "stagnant"),
      at_stop("no loop, and nothing is found", at(0), {.tools = {{.automatic = true}}}, "auto_clean"),
      at_stop("no loop, and an error is found", at(0),
              {.tools = {{.automatic = true, .issues = 1, .summary = "1 error"}}}, "auto_continues"),
      at_stop("the same, and the agent says that it is done", at(0),
              {.tools = {{.automatic = true, .issues = 1, .marked = true}}}, "marked_complete"),
      at_stop("the same errors again and again", at(0),
              {.tools = {{.automatic = true, .issues = 1, .stagnation = "the same"}}}, "auto_stuck"),
      at_stop("a loop whose diagnostics don't improve", failing(at(3)),
              {.checks = 1, .needs_promise = false, .ran = true, .tools = {{.issues = 1, .stagnation = "the same"}}},
              "diagnostics_stuck"),
      at_stop("that in the last iteration", failing(at(10)),
              {.checks = 1, .needs_promise = false, .ran = true, .tools = {{.issues = 1, .stagnation = "the same"}}},
              "continuations_spent"),
      at_stop("a loop by criteria whose agent says that it is done", at(3),
              {.checks = 1, .needs_promise = false, .tools = {{.marked = true}}}, "marked_complete"),
      at_stop("a promise while it is asked to stop", asked_to_stop(at(1), 1), {true, true, 1}, "promise_accepted"),

      {"stories are no end of a prompt loop", kAfterChecks, stories(2, 2, answered(3, "COMPLETE")), "not_answered",
       kContinue},
  };
}

TEST(Decide, FollowsItsTable) {
  for (const Row& row : table()) {
    const Decision decision = decide(row.policy, row.progress, row.observation());
    EXPECT_EQ(decision.rule, row.rule) << row.situation;
    EXPECT_EQ(decision.action, row.action) << row.situation;
    EXPECT_EQ(decision.status, row.status) << row.situation;
  }
}

TEST(Decide, EveryRuleIsReachedByTheTable) {
  std::set<std::string_view> reached;
  for (const Row& row : table()) reached.insert(row.rule);
  for (std::string_view name : rule_names()) EXPECT_TRUE(reached.contains(name)) << name;
}

TEST(Decide, EveryStopHasAReason) {
  for (const Row& row : table()) {
    const Decision decision = decide(row.policy, row.progress, row.observation());
    if (decision.action == Action::kStop || decision.action == Action::kEndNow || decision.action == Action::kRetry) {
      EXPECT_FALSE(decision.reason.empty()) << row.situation;
    }
  }
}

TEST(Decide, BackOffDoublesAndIsBounded) {
  Policy policy;
  policy.retry_attempts = 100;
  std::vector<long long> delays;
  for (int attempt = 1; attempt <= 8; ++attempt) {
    delays.push_back(decide(policy, crashed(1, attempt), {Moment::kAfterTurn}).delay.count());
  }
  EXPECT_EQ(delays, (std::vector<long long>{2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000}));
}

TEST(Decide, WaitsForALimitUntilItIsSurelyOver) {
  const Decision decision =
      decide(with_agents({"claude"}), limited(90s), Row{"", Moment::kAfterTurn, {}, "", {}}.observation());
  EXPECT_EQ(decision.delay, 91s);
  EXPECT_EQ(decision.reason, "claude is at its usage limit until 2026-11-16T03:34:50.000Z");
}

TEST(Decide, WaitsLongerEachTimeTheEndIsUnknown) {
  std::vector<long long> minutes;
  for (int times = 1; times <= 6; ++times) {
    const Row row{"", Moment::kAfterTurn, limited({}, times), "", {}};
    minutes.push_back(decide(with_agents({"claude"}), row.progress, row.observation()).delay / 1min);
  }
  EXPECT_EQ(minutes, (std::vector<long long>{5, 10, 20, 40, 80, 80}));
}

TEST(Decide, OverloadBackOffHasJitterAndIsBounded) {
  Observation now{Moment::kAfterTurn};
  now.clock.random = 0;
  EXPECT_EQ(decide({}, failed_with("overloaded", 1), now).delay, 2500ms);
  now.clock.random = 1;
  EXPECT_EQ(decide({}, failed_with("overloaded", 1), now).delay, 5000ms);
  EXPECT_EQ(decide({}, failed_with("overloaded", 8), now).delay, 300s);
}

TEST(Decide, TheLimitSaysWhatIsMissing) {
  Progress progress = failing(answered(10, "DONE"));
  progress.guardrails_failed = {"make lint", "make test"};
  EXPECT_EQ(decide({}, progress, {Moment::kAfterChecks}).reason,
            "10 iterations done, but make lint and make test still fail");
  EXPECT_EQ(decide({}, answered(10, "NO"), {Moment::kAfterChecks}).reason,
            "10 iterations done, but the agent has not answered \"DONE\" (its last answer was \"NO\")");
}

TEST(Decide, CompletionNamesWhatWasProved) {
  Progress progress = answered(2, "done");
  progress.guardrails_passed = 2;
  EXPECT_EQ(decide({}, progress, {Moment::kAfterChecks}).reason,
            "the agent answered \"done\" and all 2 guardrails passed");
}

TEST(Decide, APlansReasonsCountItsStoriesAndNameTheOpenOnes) {
  const auto reason = [](const Progress& progress) {
    return decide(for_a_plan(), progress, {Moment::kAfterChecks}).reason;
  };
  EXPECT_EQ(reason(stories(1, 1, answered(2, std::nullopt))), "the story is done and there are no checks");
  Progress checked = stories(3, 3, answered(2, "COMPLETE"));
  checked.guardrails_passed = 2;
  EXPECT_EQ(reason(checked), "all 3 stories are done and all 2 checks passed, as the agent promised");
  EXPECT_EQ(reason(stories(1, 2, answered(2, std::nullopt))), "1 of 2 stories done; open: US-002");
  EXPECT_EQ(reason(stories(0, 1, answered(2, "COMPLETE"))),
            "the agent promised too early: 0 of 1 story done; open: US-001");
  EXPECT_EQ(reason(stories(2, 9, answered(10, std::nullopt))),
            "10 iterations done, but 2 of 9 stories done; open: US-003, US-004, US-005 and 4 more");
}

TEST(Decide, ReasonsNameWhatASessionDid) {
  const auto reason = [](bool promised, std::optional<bool> worked, int calls, const Policy& policy = for_a_session(),
                         int iteration = 0) {
    Observation now{Moment::kAtStop};
    now.signals = {promised, worked, calls};
    return decide(policy, at(iteration), now).reason;
  };
  EXPECT_EQ(reason(true, true, 1), "the promise was given after 1 tool call");
  EXPECT_EQ(reason(true, true, 0), "the promise was given and the tree has changed");
  EXPECT_EQ(reason(true, std::nullopt, 0), "the promise was given; whether work was done can't be known here");
  EXPECT_EQ(reason(true, false, 0, for_a_session(PromiseWithoutWork::kWarn)),
            "the promise was given without any work, and accepted with this warning");
  EXPECT_EQ(reason(true, false, 0), "the promise was made, but 0 tool calls of at least 1 done");
  EXPECT_EQ(reason(false, true, 4), "the promise is missing");
  EXPECT_EQ(reason(false, true, 4, for_a_session(), 10), "10 iterations done without the promise");
  EXPECT_EQ(reason(true, false, 0, for_a_session(), 10), "10 iterations done without work behind the promise");
}

TEST(Decide, StagnationQuotesTheAgentsLastWordsAndCanBeSwitchedOff) {
  Observation now{Moment::kAtStop};
  now.signals.idle = 3;
  now.signals.said = "Which database?";
  Policy policy = for_a_session();
  EXPECT_EQ(decide(policy, at(3), now).reason,
            "3 continuations in a row without a tool call; the agent's last words: \"Which database?\"");
  EXPECT_EQ(exit_code_of(StopStatus::kStagnant), 1);
  policy.stagnation_limit = 0;
  EXPECT_EQ(decide(policy, at(3), now).rule, "promise_missing");
}

TEST(Decide, AnAwaitedFileEndsATurnAndNothingElse) {
  Observation now;
  now.signals.file_appeared = true;
  now.moment = Moment::kDuringTurn;
  const Decision during_turn = decide({}, {}, now);
  EXPECT_EQ(during_turn.rule, "awaited_file_appeared");
  EXPECT_EQ(during_turn.action, Action::kEndNow);
  EXPECT_EQ(during_turn.cause, EndCause::kFileAppeared);
  now.moment = Moment::kDuringCheck;
  EXPECT_EQ(decide({}, {}, now).action, Action::kContinue);
}

// The record of a decision is enough to replay it.
TEST(Observation, SurvivesARoundTripThroughItsRecord) {
  Observation now;
  now.moment = Moment::kAtStop;
  now.clock = {1s, 2s, 3s, 4s, kNow, 0.25};
  now.turn = {2, 5s, 0.125, 77};
  now.checks.outdated = true;
  now.journal = "it was shortened";
  now.signals = {true, false, 3, true, 2, "Which one?", true, 1, true};
  now.session = {"/t.jsonl", 1234567890123, 4, {"a", "b"}, true, "p1", "00ff", 5, {"b1"}};
  now.plan = {6, 7};
  EXPECT_EQ(from_json<Observation>(brief_json(now)), now);
  EXPECT_EQ(from_json<Observation>(brief_json(Observation{})), Observation{});
  EXPECT_EQ(json::serialize(brief_json(Observation{Moment::kAfterChecks})), R"({"moment":"after_checks"})");
}

TEST(TimeUntilChange, IsTheSoonestLimitOrNever) {
  Policy policy;
  const auto left = [&](Moment moment, Milliseconds run, Milliseconds step, Milliseconds quiet,
                        Milliseconds limit = 0s) {
    Observation now;
    now.moment = moment;
    now.clock = {run, step, quiet, limit};
    return time_until_change(policy, {}, now);
  };
  EXPECT_EQ(left(Moment::kDuringTurn, 0s, 0s, 0s), std::nullopt);
  policy.agent_idle_limit = 10s;
  policy.run_time_limit = 100s;
  EXPECT_EQ(left(Moment::kDuringTurn, 95s, 0s, 2s), Milliseconds(5000));
  EXPECT_EQ(left(Moment::kDuringTurn, 50s, 0s, 2s), Milliseconds(8000));
  EXPECT_EQ(left(Moment::kDuringTurn, 50s, 0s, 12s), Milliseconds(0));
  EXPECT_EQ(left(Moment::kDuringCheck, 50s, 3s, 12s, 4s), Milliseconds(1000));
  EXPECT_EQ(left(Moment::kDuringLook, 99s, 3s, 12s), std::nullopt);
}

TEST(TimeUntilChange, ConcernsOnlyTheRowsBeforeTheOneThatDecides) {
  Policy policy;
  policy.run_time_limit = 100s;
  policy.child_wait = 300s;
  Observation now;
  now.moment = Moment::kBeforeIteration;
  now.clock.run_time = 40s;
  now.task = Observation::Task{.open = {"a"}};
  EXPECT_EQ(decide(policy, {}, now).rule, "task_depends");
  EXPECT_EQ(time_until_change(policy, {}, now), Milliseconds(60s)) << "a wait of a day does not outlast the run";
  now.task = Observation::Task{.done = true, .children = 1, .since_awaiting = 10s};
  now.clock.run_time = 200s;
  EXPECT_EQ(decide(policy, {}, now).rule, "task_children_awaited");
  EXPECT_EQ(time_until_change(policy, {}, now), Milliseconds(290s)) << "the run's time would not end this wait";
}

TEST(ExitCodes, AreTheDocumentedOnes) {
  EXPECT_EQ(exit_code_of(StopStatus::kComplete), 0);
  EXPECT_EQ(exit_code_of(StopStatus::kLimit), 1);
  EXPECT_EQ(exit_code_of(StopStatus::kFatal), 2);
  EXPECT_EQ(exit_code_of(StopStatus::kWaiting), 3);
  EXPECT_EQ(exit_code_of(StopStatus::kInterrupted), 130);
}

}  // namespace
}  // namespace ralph
