// ralph hooks session-start: a session of the host agent starts, resumes, or gets a new context.
#include "cli/hook_io.h"
#include "cli/registry.h"
#include "hooks/context_monitor.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

// A resumed session does not count. (Besides, Claude Code's --continue passes the wrong session id here.)
bool starts_anew(const HookPayload& payload) {
  return payload.source != "resume" && payload.source != "compact" && payload.source != "fork";
}

// The contract of the loop that waited for this session; empty: none.
std::string adopt_loop(const HookCall& call) {
  const HookPayload& payload = call.payload;
  if (payload.session.empty() || !starts_anew(payload)) return {};
  if (!is_directory(payload.cwd)) {
    call.complain("the folder of this session is not known, or is gone; no loop is looked for");
    return {};
  }
  LoopStore store(project_for_loop(payload.cwd), call.environment);
  const auto adopted = store.adopt(payload.session, payload.transcript_path);
  if (!adopted) call.complain(adopted.error().message);
  return adopted && *adopted ? prompt_contract((*adopted)->request) : "";
}

Result<int> session_start(const Arguments& arguments) {
  HookCall call("session-start", arguments);
  std::vector<std::string> complaints;
  ContextMonitor(call.environment, complaints).at_session_start(call.read());
  call.complain(complaints);
  const std::string contract = call.is_inside_run() ? "" : adopt_loop(call);
  return contract.empty() ? 0 : call.add_context("SessionStart", contract);
}

}  // namespace

const Command kHooksSessionStart = {
    "hooks session-start",
    "For a host agent's SessionStart hook: resets the state of a session.",
    R"(Reads the hook's JSON on standard input. The alerts of `ralph hooks context-monitor` are armed again, unless the session is
a resumed one, whose context has them already. A loop that was started without a session in this project is bound to the
session that starts, and the model is given its contract.)",
    R"(echo '{"session_id": "s", "cwd": "/p", "source": "startup"}' | ralph hooks session-start)",
    kHookOptions,
    {},
    session_start,
};

}  // namespace ralph::cli
