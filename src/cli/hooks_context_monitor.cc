// ralph hooks context-monitor: after a tool call of the host agent, warns the model when its context fills up.
#include <array>

#include "cli/context_alert.h"
#include "cli/registry.h"
#include "os/environment.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {kProtocolOption};

int context_monitor(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  return tell_of_context("context-monitor", environment, read_payload("context-monitor"), protocol_of(arguments));
}

}  // namespace

const Command kHooksContextMonitor = {
    "hooks context-monitor",
    "For a host agent's PostToolUse hook: warns when the context fills up.",
    R"(Reads the hook's JSON on standard input. When 50, 60, 70, 80 or 90 percent of the session's context window are used, the
model is told so after the tool call, once for each threshold. The use is taken from the last record in the transcript, or
estimated from its size if there is none. CLAUDE_CONTEXT_WINDOW sets the window in tokens (default: what the transcript
says, else 200000).)",
    R"(echo '{"session_id": "s", "transcript_path": "/t.jsonl"}' | ralph hooks context-monitor)",
    kOptions,
    {},
    context_monitor,
};

}  // namespace ralph::cli
