// ralph hooks stop: called by the host agent when it is about to stop.
#include <array>

#include "cli/hook_io.h"
#include "cli/loop_report.h"
#include "cli/registry.h"
#include "engine/run.h"
#include "git/git.h"
#include "os/prefault.h"
#include "os/process_tree.h"
#include "plan/objections.h"
#include "plan/project_check.h"
#include "session/auto_mode.h"
#include "session/stop.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {kHookOptions[0], kDeadlineOption};

bool is_disabled(const Environment& environment) {
  for (const char* name : {"RALPH_DISABLE_LOOP_CONTROLLER", "JIKIME_DISABLE_LOOP_CONTROLLER"}) {
    const std::string value = environment.get(name).value_or("");
    if (!value.empty() && value != "0" && value != "false") return true;
  }
  return false;
}

// Runs the plan's checks and returns the message for an agent that may not stop yet.
Result<std::optional<std::string>> plan_objection(const HookCall& call) {
  TRY_VALUE(auto plan, active_plan(call.environment, call.payload.cwd));
  if (!plan) return std::optional<std::string>();
  plan->words = call.payload.last_message.value_or("");
  TRY_VALUE(const CheckReport report,
            check_project(*plan, Repository(plain_git(plan->files.project), plan->files.project)));
  call.complain(report.warnings);
  const Objections objections(call.environment, *plan, call.payload.session);
  if (report.passed()) {
    objections.forget();
    return std::optional<std::string>();
  }
  // The run writes its own journal; this hook only queries it.
  SystemClock clock;
  NoProcesses processes;
  NullListener listener;
  const Redactor redactor(std::vector<std::string>{});
  Run run = Run::read_only({}, {processes, clock, redactor, listener, plan->files.project, call.environment});
  Observation now;
  now.moment = Moment::kAtStop;
  now.plan = {static_cast<int>(report.problems.size()), objections.count()};
  TRY_VALUE(const Decision decision, run.ask(now));
  if (decision.stops()) {
    call.complain(decision.reason);
    return std::optional<std::string>();
  }
  objections.add();
  return std::optional(advice_from(report));
}

// After a kept promise, the host's own goal may continue. Otherwise the turn ends, or the host would keep working after
// ralph has given up.
HookReply end_of_loop(Protocol protocol, LoopStatus status, std::string_view reason, std::string_view report = {}) {
  std::string message = fmt::format("ralph loop: {} ({})", to_string(status), reason);
  if (!report.empty()) message += fmt::format("\n{}", report);
  const bool kept = status == LoopStatus::kPromiseAccepted || status == LoopStatus::kComplete;
  return kept ? allow_stop(protocol, message) : end_turn(protocol, message);
}

// The reply to a session without a loop, which continues while the project's tools find errors in what it has edited.
Result<HookReply> automatic_reply(const HookCall& call) {
  const AutoRequest request{call.payload.session, call.payload.last_message.value_or(""), call.time_left()};
  TRY_VALUE(const auto answer, judge_automatically(request, call.environment));
  if (!answer) return allow_stop(call.protocol);
  return answer->text.empty() ? allow_stop(call.protocol, answer->message) : go_on(call.protocol, answer->text);
}

// The reply for the session's own loop.
Result<HookReply> loop_reply(const HookCall& call) {
  if (call.is_inside_run() || !call.payload.agent_id.empty()) return allow_stop(call.protocol);
  const bool cancelled = take_cancellation(call.environment, call.payload.session);
  if (cancelled) return end_of_loop(call.protocol, LoopStatus::kCancelled, "cancelled by the user");
  const auto project = project_of_session(call.environment, call.payload.session);
  if (!project) return automatic_reply(call);
  LoopStore store(*project, call.environment);
  StopRequest request = stop_request_from(call.payload);
  request.called = start_of_this_process;
  request.patience = call.time_left();
  TRY_VALUE(const auto answer, judge_stop(store, request, call.environment));
  if (!answer) return allow_stop(call.protocol);
  const Decision& decision = answer->decision;
  if (decision.action == Action::kContinue || decision.action == Action::kHold)
    return go_on(call.protocol, answer->continuation);
  if (decision.action == Action::kWait) return allow_stop(call.protocol, "ralph loop: " + decision.reason);
  write_loop_receipt(*project, answer->state);
  if (!answer->summary.empty() && answer->report.empty()) return allow_stop(call.protocol, answer->summary);
  return end_of_loop(call.protocol, answer->state.status, answer->state.reason, answer->report);
}

// A hook never breaks its host: on any error the agent may stop, and standard error says why.
Result<int> judge_host_stop(const Arguments& arguments) {
  prefault_memory();
  HookCall call("stop", arguments);
  TRY(call.set_deadline(arguments));
  call.read();
  if (is_disabled(call.environment)) return 0;
  const auto objection = plan_objection(call);
  if (!objection) call.complain(objection.error().message);
  if (objection && *objection) return send(go_on(call.protocol, **objection));
  const auto reply = loop_reply(call);
  if (reply) return send(*reply);
  call.complain(reply.error().message);
  return 0;
}

}  // namespace

const Command kHooksStop = {
    "hooks stop",
    "For a host agent's Stop hook: decides whether the agent may stop.",
    R"(Reads the hook's JSON from standard input. While a plan run is active in the folder that the JSON names, or above
it, the checks of `ralph plan check` run, and a stop that would leave the plan out of order is refused with the
reasons. A session with a loop (`ralph loop start`, /ralph:loop) continues until the agent gives its promise or the
limit is reached. The loop's own checks (--check) run here, before the promise counts. Checks that are not done shortly
before the deadline continue without this hook, and the next stop gets the result.

In projects that you have accepted (`ralph trust`), a session without a loop that has edited files continues while the
project's tools find errors or security issues, as long as that helps. diagnostics.auto and RALPH_AUTO=0 turn this off.

RALPH_DISABLE_LOOP_CONTROLLER=1 allows every stop.)",
    R"(echo '{"session_id": "...", "cwd": "'"$PWD"'"}' | ralph hooks stop)",
    kOptions,
    {},
    judge_host_stop,
};

const Command kHooksStopLoop = {
    "hooks stop-loop",
    "Same as `ralph hooks stop`, under the name that diagnostics loops use.",
    "See `ralph hooks stop --help`. With --protocol exit, it exits with 1 if the session has to continue, and with\n"
    "0 if it may stop.",
    R"(echo '{"messages": []}' | ralph hooks stop-loop --protocol exit)",
    kOptions,
    {},
    judge_host_stop,
};

}  // namespace ralph::cli
