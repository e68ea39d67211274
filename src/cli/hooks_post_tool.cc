// ralph hooks post-tool: runs after a tool call of the host agent. Counts the call for the session's loop and monitors
// the context, in one process.
#include <array>

#include "cli/context_alert.h"
#include "cli/registry.h"
#include "journal/run_folder.h"
#include "os/environment.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

constexpr std::string_view kHook = "post-tool";
constexpr std::array kOptions = {kProtocolOption};

// The model may start its loop itself, in its shell. That does not count as work.
bool starts_loop(const HookPayload& payload) {
  const auto command = find_string(payload.tool_input, "command");
  return command && command->find("ralph loop start") != std::string_view::npos;
}

// A sub-agent's call counts as work of its session.
void count_call(const Environment& environment, const HookPayload& payload) {
  if (payload.session.empty() || starts_loop(payload)) return;
  const auto project = project_of_session(environment, payload.session);
  if (project) LoopStore(*project, environment).count_tool_call(payload.session);
}

int post_tool(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  const HookPayload payload = read_payload(kHook);
  // If ralph runs this agent, that run does the looping.
  if (enclosing_run_id(environment).empty()) count_call(environment, payload);
  return tell_of_context(kHook, environment, payload, protocol_of(arguments));
}

}  // namespace

const Command kHooksPostTool = {
    "hooks post-tool",
    "For a host agent's PostToolUse hook: counts the call, watches the context.",
    R"(Reads the hook's JSON on standard input. If the session has a loop, the tool call is counted as work of that loop. Then it
does what `ralph hooks context-monitor` does, so that one hook for each tool call is enough.)",
    R"(echo '{"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p"}' | ralph hooks post-tool)",
    kOptions,
    {},
    post_tool,
};

}  // namespace ralph::cli
