// ralph hooks user-prompt: gets every line typed into the host agent, and starts, shows or cancels a loop if the line
// is one of ralph's commands.
#include "cli/hook_io.h"
#include "cli/loop_report.h"
#include "cli/registry.h"
#include "journal/redactor.h"
#include "os/files.h"
#include "session/auto_mode.h"
#include "session/contract.h"
#include "session/diagnose.h"
#include "session/loop_command.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

// The contract for the model; empty: another hook of this session has already started the loop for this line.
Result<std::string> start_loop(const LoopCommand& command, const HookCall& call) {
  const HookPayload& payload = call.payload;
  if (payload.session.empty())
    return fail(ErrorKind::kUsage, "the host did not say which session this is; start the loop with: ralph loop start");
  if (!is_directory(payload.cwd))
    return fail(ErrorKind::kUsage, "the folder of this session {}; start the loop in the folder of a project",
                payload.cwd.empty() ? "is not known, or is gone" : "is gone: " + payload.cwd);
  LoopStore store(call.project, call.environment);
  LoopRequest request = command.request;
  TRY(settle_targets(request, payload.cwd, store.project()));
  TRY(check_criteria(store.project(), call.environment, request.criteria()));
  const auto state = store.start(request, payload.session, payload.transcript_path, payload.prompt_id);
  if (state) {
    TRY(store.note_host(payload.session));
    return prompt_contract(state->request);
  }
  if (state.error().kind == ErrorKind::kBusy && !payload.prompt_id.empty()) {
    const auto there = store.load(payload.session);
    if (there && *there && (*there)->host.prompt_id == payload.prompt_id) return std::string();
  }
  return tl::unexpected(state.error());
}

LoopStore store_of(const HookCall& call) {
  const auto project = project_of_session(call.environment, call.payload.session);
  return LoopStore(project ? *project : call.project, call.environment);
}

std::string no_loop(const HookCall& call) {
  const auto waiting = LoopStore(call.project, call.environment).load("");
  const bool waits = !call.payload.cwd.empty() && waiting && *waiting && (*waiting)->active();
  return fmt::format(
      "No ralph loop is active in this session.{}",
      waits ? " One waits in this project for the next session that starts; 'ralph loop cancel' ends it." : "");
}

std::string cancelled(const LoopState& state) {
  return fmt::format("The ralph loop of this session was cancelled in iteration {} of {}.", state.iteration,
                     state.request.max_iterations);
}

Result<std::string> cancel_loop(const HookCall& call) {
  if (call.payload.session.empty()) return no_loop(call);
  const LoopStore store = store_of(call);
  TRY_VALUE(const auto state, store.cancel(call.payload.session));
  if (state) {
    write_loop_receipt(store.project(), *state);
    return cancelled(*state);
  }
  // The stop hook may have found the line while it was waiting in the host's queue.
  const auto ended = store.history(call.payload.session);
  return !ended.empty() && ended.front().status == LoopStatus::kCancelled ? cancelled(ended.front()) : no_loop(call);
}

Result<std::string> tell_status(const HookCall& call) {
  if (call.payload.session.empty()) return no_loop(call);
  const LoopStore store = store_of(call);
  std::vector<LoopState> states = store.active(call.payload.session);
  if (states.empty()) states = store.history(call.payload.session);
  if (states.empty()) return no_loop(call);
  return Redactor(call.environment.as_lines()).redact(loop_report(states.front(), Style{}));
}

// Counts a line that the user typed into a session with a loop. Some hosts also call this hook for continuations.
void count_prompt(const HookCall& call) {
  const HookPayload& payload = call.payload;
  const auto project = project_of_session(call.environment, payload.session);
  if (!project) return;
  const LoopStore store(*project, call.environment);
  if (payload.prompt.find(kContinuationMark) == std::string::npos)
    store.count_prompt(payload.session, payload.prompt_id);
  if (const Status noted = store.note_host(payload.session); !noted) call.complain(noted.error().message);
}

Result<int> user_prompt(const Arguments& arguments) {
  HookCall call("user-prompt", arguments);
  const auto command = loop_command_from(call.read().prompt);
  if (call.is_inside_run()) return 0;
  take_cancellation(call.environment, call.payload.session);  // the user who types already knows about it
  const auto refuse = [&](std::string_view why) {
    return send(refuse_prompt(call.protocol, fmt::format("ralph: {}", why)));
  };
  if (!command) return refuse(command.error().message);
  if (!*command) {
    count_prompt(call);
    if (call.payload.prompt.find(kAutoContinueMark) == std::string::npos)
      forget_attempts(call.environment, call.payload.session);
    return 0;
  }
  const LoopVerb verb = (*command)->verb;
  const auto text = verb == LoopVerb::kStart    ? start_loop(**command, call)
                    : verb == LoopVerb::kCancel ? cancel_loop(call)
                                                : tell_status(call);
  if (!text) return refuse(text.error().message);
  // Cancel and status need no model: the answer is for the user.
  if (verb != LoopVerb::kStart) return refuse(*text);
  return text->empty() ? 0 : call.add_context("UserPromptSubmit", *text);
}

}  // namespace

const Command kHooksUserPrompt = {
    "hooks user-prompt",
    "For a host agent's UserPromptSubmit hook: starts, shows and cancels loops.",
    R"(Reads the hook's JSON from standard input. A line that begins with /ralph:loop, /ralph:ulw-loop, /ralph-loop or
/ulw-loop starts a loop bound to the session, and the model is given its contract; /ralph:cancel and /cancel-ralph end
it, /ralph:status and /ralph-status show it, both without asking the model. The task's text never passes through a
shell. Any other line is passed on; it resets the count of continuations without progress.)",
    R"(echo '{"session_id": "...", "cwd": "/p", "prompt": "/ralph:loop fix it"}' | ralph hooks user-prompt)",
    kHookOptions,
    {},
    user_prompt,
};

}  // namespace ralph::cli
