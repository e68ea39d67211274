// ralph hooks user-prompt: gets every line typed into the host agent, and starts or cancels a loop if the line is one
// of ralph's commands.
#include "cli/hook_io.h"
#include "cli/registry.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_command.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

Result<std::string> start_loop(const LoopCommand& command, const HookCall& call) {
  const HookPayload& payload = call.payload;
  if (payload.session.empty())
    return fail(ErrorKind::kUsage, "the host did not say which session this is; start the loop with: ralph loop start");
  if (!is_directory(payload.cwd))
    return fail(ErrorKind::kUsage, "the folder of this session {}; start the loop in the folder of a project",
                payload.cwd.empty() ? "is not known, or is gone" : "is gone: " + payload.cwd);
  LoopStore store(project_for_loop(payload.cwd), call.environment);
  TRY_VALUE(const LoopState state, store.start(command.request, payload.session, payload.transcript_path));
  return prompt_contract(state.request);
}

std::string nothing_to_cancel(const HookCall& call) {
  const auto waiting = LoopStore(project_for_loop(call.payload.cwd), call.environment).load("");
  const bool waits = !call.payload.cwd.empty() && waiting && *waiting && (*waiting)->active();
  return fmt::format(
      "No ralph loop is active in this session.{}",
      waits ? " One waits in this project for the next session that starts; 'ralph loop cancel' ends it." : "");
}

Result<std::string> cancel_loop(const HookCall& call) {
  const auto project = project_of_session(call.environment, call.payload.session);
  if (!project) return nothing_to_cancel(call);
  TRY_VALUE(const auto state, LoopStore(*project, call.environment).cancel(call.payload.session));
  if (!state) return nothing_to_cancel(call);
  return fmt::format("The ralph loop of this session was cancelled in iteration {} of {}. Stop working on its task.",
                     state->iteration, state->request.max_iterations);
}

Result<int> user_prompt(const Arguments& arguments) {
  HookCall call("user-prompt", arguments);
  const auto command = loop_command_from(call.read().prompt);
  if (call.is_inside_run()) return 0;
  take_cancellation(call.environment, call.payload.session);  // whoever types knows of it
  if (!command) return send(refuse_prompt(call.protocol, "ralph: " + command.error().message));
  if (!*command || (*command)->verb == LoopVerb::kStatus) return 0;
  const bool starts = (*command)->verb == LoopVerb::kStart;
  const auto told = starts ? start_loop(**command, call) : cancel_loop(call);
  if (!told) return send(refuse_prompt(call.protocol, "ralph: " + told.error().message));
  return call.add_context("UserPromptSubmit", *told);
}

}  // namespace

const Command kHooksUserPrompt = {
    "hooks user-prompt",
    "For a host agent's UserPromptSubmit hook: starts and cancels loops.",
    R"(Reads the hook's JSON on standard input. A line that begins with /ralph:loop, /ralph:ulw-loop, /ralph-loop or /ulw-loop
starts a loop bound to the session, and the model is given its contract; /ralph:cancel and /cancel-ralph end it. The task's
text never passes through a shell. Any other line is ignored.)",
    R"(echo '{"session_id": "...", "cwd": "/p", "prompt": "/ralph:loop fix it"}' | ralph hooks user-prompt)",
    kHookOptions,
    {},
    user_prompt,
};

}  // namespace ralph::cli
