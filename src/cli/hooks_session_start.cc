// ralph hooks session-start: a session of the host agent starts, resumes, or gets a new context.
#include "base/text.h"
#include "base/utf8.h"
#include "cli/hook_io.h"
#include "cli/registry.h"
#include "hooks/context_monitor.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

constexpr size_t kTaskWidth = 80;

// A resumed session is not a new one. (Also, Claude Code's --continue passes the wrong session id here.)
bool is_new_session(const HookPayload& payload) {
  return payload.source != "resume" && payload.source != "compact" && payload.source != "fork";
}

// The contract of the loop that was waiting for a session; empty: there was none.
std::string adopt_loop(const HookCall& call) {
  const HookPayload& payload = call.payload;
  if (payload.session.empty() || !is_new_session(payload)) return {};
  if (!is_directory(payload.cwd)) {
    call.complain("the folder of this session is unknown or gone, so no loop can be found");
    return {};
  }
  LoopStore store(call.project, call.environment);
  const auto adopted = store.adopt(payload.session, payload.transcript_path);
  if (!adopted) call.complain(adopted.error().message);
  if (!adopted || !*adopted) return {};
  if (const Status noted = store.note_host(payload.session); !noted) call.complain(noted.error().message);
  return prompt_contract((*adopted)->request);
}

// A session that had ended continues, and so does its loop.
void note_return(const HookCall& call) {
  const auto project = project_of_session(call.environment, call.payload.session);
  if (!project) return;
  const LoopStore store(*project, call.environment);
  for (const Status& noted :
       {store.note_session_end(call.payload.session, ""), store.note_host(call.payload.session)}) {
    if (!noted) call.complain(noted.error().message);
  }
}

// A message for the user who has typed /clear; empty: there was no loop.
std::string cleared_loop_message(const HookCall& call) {
  if (call.payload.source != "clear" || !is_directory(call.payload.cwd)) return {};
  const auto cleared = LoopStore(call.project, call.environment).just_cleared();
  if (!cleared) return {};
  const LoopRequest& request = cleared->request;
  return fmt::format("ralph: /clear has ended the loop \"{}\" in iteration {} of {}; start it again with /ralph:loop",
                     without_promise_tag(fit_to_width(first_line(request.task), kTaskWidth), request),
                     cleared->iteration, request.max_iterations);
}

Result<int> session_start(const Arguments& arguments) {
  HookCall call("session-start", arguments);
  std::vector<std::string> complaints;
  ContextMonitor(call.environment, complaints).at_session_start(call.read());
  call.complain(complaints);
  if (call.is_inside_run()) return 0;
  note_return(call);
  const std::string contract = adopt_loop(call);
  if (!contract.empty()) return call.add_context("SessionStart", contract);
  return send(allow_stop(call.protocol, cleared_loop_message(call)));
}

}  // namespace

const Command kHooksSessionStart = {
    "hooks session-start",
    "For a host agent's SessionStart hook: resets the state of a session.",
    R"(Reads the hook's JSON from standard input. Rearms the alerts of `ralph hooks context-monitor`, unless the session
is resumed, because its context already has them. A loop that was started in this project without a session is bound to
the session that starts, and the model is given its contract. After /clear, the user is told what became of the loop.)",
    R"(echo '{"session_id": "s", "cwd": "/p", "source": "startup"}' | ralph hooks session-start)",
    kHookOptions,
    {},
    session_start,
};

}  // namespace ralph::cli
