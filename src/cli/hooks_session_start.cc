// ralph hooks session-start: a session of the host agent starts, resumes, or gets a new context.
#include <array>

#include "cli/hook_io.h"
#include "cli/registry.h"
#include "hooks/context_monitor.h"
#include "journal/run_folder.h"
#include "os/environment.h"
#include "os/files.h"
#include "session/contract.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

constexpr std::string_view kHook = "session-start";
constexpr std::array kOptions = {kProtocolOption};

// A resumed session does not count. (Besides, Claude Code's --continue passes the wrong session id here.)
bool starts_anew(const HookPayload& payload) {
  return payload.source != "resume" && payload.source != "compact" && payload.source != "fork";
}

// The contract of the loop that waited for this session; empty: none.
std::string adopt_loop(const Environment& environment, const HookPayload& payload) {
  if (payload.session.empty() || !starts_anew(payload)) return {};
  if (!is_directory(payload.cwd)) {
    complain(kHook, "the folder of this session is not known, or is gone; no loop is looked for");
    return {};
  }
  LoopStore store(project_for_loop(payload.cwd), environment);
  const auto adopted = store.adopt(payload.session, payload.transcript_path);
  if (!adopted) complain(kHook, adopted.error().message);
  return adopted && *adopted ? prompt_contract((*adopted)->request) : "";
}

int session_start(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  const HookPayload payload = read_payload(kHook);
  std::vector<std::string> complaints;
  ContextMonitor(environment, complaints).at_session_start(payload);
  for (const std::string& complaint : complaints) complain(kHook, complaint);
  // If ralph runs this agent, that run does the looping.
  if (!enclosing_run_id(environment).empty()) return 0;
  const std::string contract = adopt_loop(environment, payload);
  if (contract.empty()) return 0;
  return send(add_context(protocol_of(arguments), payload.event.empty() ? "SessionStart" : payload.event, contract));
}

}  // namespace

const Command kHooksSessionStart = {
    "hooks session-start",
    "For a host agent's SessionStart hook: resets the state of a session.",
    R"(Reads the hook's JSON on standard input. The alerts of `ralph hooks context-monitor` are armed again, unless the session is
a resumed one, whose context has them already. A loop that was started without a session in this project is bound to the
session that starts, and the model is given its contract.)",
    R"(echo '{"session_id": "s", "cwd": "/p", "source": "startup"}' | ralph hooks session-start)",
    kOptions,
    {},
    session_start,
};

}  // namespace ralph::cli
