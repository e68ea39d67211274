// ralph hooks session-end: a session of the host agent ends.
#include "cli/hook_io.h"
#include "cli/registry.h"
#include "session/edits.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

Result<int> session_end(const Arguments& arguments) {
  HookCall call("session-end", arguments);
  const HookPayload& payload = call.read();
  if (call.is_inside_run()) return 0;
  forget_edits(call.environment, payload.session);
  const auto project = project_of_session(call.environment, payload.session);
  if (!project) return 0;
  const std::string reason = payload.reason.empty() ? "other" : payload.reason;
  const Status noted = LoopStore(*project, call.environment).note_session_end(payload.session, reason);
  if (!noted) call.complain(noted.error().message);
  return 0;
}

}  // namespace

const Command kHooksSessionEnd = {
    "hooks session-end",
    "For a host agent's SessionEnd hook: records that a session has ended.",
    R"(Reads the hook's JSON from standard input. The session's loop is then shown as SESSION_ENDED, and continues when
the session is resumed. After /clear the session can't be resumed, so its loop is cancelled.)",
    R"(echo '{"session_id": "s", "cwd": "/p", "reason": "other"}' | ralph hooks session-end)",
    kHookOptions,
    {},
    session_end,
};

}  // namespace ralph::cli
