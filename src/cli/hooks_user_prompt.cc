// ralph hooks user-prompt: gets every line typed into the host agent, and starts or cancels a loop if the line is one
// of ralph's commands.
#include <array>

#include "cli/hook_io.h"
#include "cli/registry.h"
#include "journal/run_folder.h"
#include "os/environment.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_command.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

constexpr std::string_view kHook = "user-prompt";
constexpr std::array kOptions = {kProtocolOption};

Result<std::string> start_loop(const LoopCommand& command, const HookPayload& payload, const Environment& environment) {
  if (payload.session.empty())
    return fail(ErrorKind::kUsage, "the host did not say which session this is; start the loop with: ralph loop start");
  if (!is_directory(payload.cwd))
    return fail(ErrorKind::kUsage, "the folder of this session {}; start the loop in the folder of a project",
                payload.cwd.empty() ? "is not known, or is gone" : "is gone: " + payload.cwd);
  LoopStore store(project_for_loop(payload.cwd), environment);
  TRY_VALUE(const LoopState state, store.start(command.request, payload.session, payload.transcript_path));
  return prompt_contract(state.request);
}

std::string nothing_to_cancel(const HookPayload& payload, const Environment& environment) {
  const auto waiting = LoopStore(project_for_loop(payload.cwd), environment).load("");
  const bool waits = !payload.cwd.empty() && waiting && *waiting && (*waiting)->active();
  return fmt::format(
      "No ralph loop is active in this session.{}",
      waits ? " One waits in this project for the next session that starts; 'ralph loop cancel' ends it." : "");
}

Result<std::string> cancel_loop(const HookPayload& payload, const Environment& environment) {
  const auto project = project_of_session(environment, payload.session);
  if (!project) return nothing_to_cancel(payload, environment);
  LoopStore store(*project, environment);
  TRY_VALUE(const auto state, store.cancel(payload.session));
  if (!state) return nothing_to_cancel(payload, environment);
  return fmt::format("The ralph loop of this session was cancelled in iteration {} of {}. Stop working on its task.",
                     state->iteration, state->request.max_iterations);
}

int user_prompt(const Arguments& arguments) {
  const Protocol protocol = protocol_of(arguments);
  const Environment environment = Environment::of_this_process();
  const HookPayload payload = read_payload(kHook);
  // If ralph runs this agent, that run does the looping.
  if (!enclosing_run_id(environment).empty()) return 0;
  const auto command = loop_command_from(payload.prompt);
  if (!command) return send(refuse_prompt(protocol, "ralph: " + command.error().message));
  if (!*command || (*command)->verb == LoopVerb::kStatus) return 0;
  const bool starts = (*command)->verb == LoopVerb::kStart;
  const auto told = starts ? start_loop(**command, payload, environment) : cancel_loop(payload, environment);
  if (!told) return send(refuse_prompt(protocol, "ralph: " + told.error().message));
  const std::string_view event = payload.event.empty() ? "UserPromptSubmit" : std::string_view(payload.event);
  return send(add_context(protocol, event, *told));
}

}  // namespace

const Command kHooksUserPrompt = {
    "hooks user-prompt",
    "For a host agent's UserPromptSubmit hook: starts and cancels loops.",
    R"(Reads the hook's JSON on standard input. A line that begins with /ralph:loop, /ralph:ulw-loop, /ralph-loop or /ulw-loop
starts a loop bound to the session, and the model is given its contract; /ralph:cancel and /cancel-ralph end it. The task's
text never passes through a shell. Any other line is ignored.)",
    R"(echo '{"session_id": "...", "cwd": "/p", "prompt": "/ralph:loop fix it"}' | ralph hooks user-prompt)",
    kOptions,
    {},
    user_prompt,
};

}  // namespace ralph::cli
