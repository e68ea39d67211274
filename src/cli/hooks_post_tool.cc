// ralph hooks post-tool: runs after a tool call of the host agent. Counts the call for the session's loop, monitors the
// context and runs the project's tools on an edit, in one process. ralph hooks context-monitor: only warns the model
// when its context is filling up.
#include "cli/edit_report.h"
#include "cli/hook_io.h"
#include "cli/registry.h"
#include "hooks/context_monitor.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

// The model may start its loop itself, in its shell. That does not count as work.
bool starts_loop(const HookPayload& payload) {
  const auto command = find_string(payload.tool_input, "command");
  return command && command->find("ralph loop start") != std::string_view::npos;
}

// A sub-agent's call counts as work of its session.
void count_call(const Environment& environment, const HookPayload& payload) {
  if (payload.session.empty() || starts_loop(payload)) return;
  const auto project = project_of_session(environment, payload.session);
  if (project) LoopStore(*project, environment).count_tool_call(payload.session, payload.tool_use_id);
}

// Sends the alert if there is one. Returns the exit code.
int tell_of_context(const HookCall& call, std::string text = {}) {
  std::vector<std::string> complaints;
  const std::string alert = ContextMonitor(call.environment, complaints).after_tool(call.payload);
  call.complain(complaints);
  if (!alert.empty()) text += fmt::format("{}{}", text.empty() ? "" : "\n\n", alert);
  return text.empty() ? 0 : call.add_context("PostToolUse", text);
}

Result<int> context_monitor(const Arguments& arguments) {
  HookCall call("context-monitor", arguments);
  call.read();
  return tell_of_context(call);
}

Result<int> post_tool(const Arguments& arguments) {
  HookCall call("post-tool", arguments);
  const HookPayload& payload = call.read();
  if (call.is_inside_run()) return tell_of_context(call);
  count_call(call.environment, payload);
  return tell_of_context(call, edit_report(call, EditTools::kAll));
}

}  // namespace

const Command kHooksPostTool = {
    "hooks post-tool",
    "For a host agent's PostToolUse hook: counts the call, watches the context.",
    R"(Reads the hook's JSON from standard input. If the session has a loop, the tool call counts as work on that loop.
Then the hook does what `ralph hooks context-monitor` does and, after an edit, what the `ralph hooks post-tool-...`
commands do, so one hook per tool call is enough.)",
    R"(echo '{"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/p"}' | ralph hooks post-tool)",
    kHookOptions,
    {},
    post_tool,
};

const Command kHooksContextMonitor = {
    "hooks context-monitor",
    "For a host agent's PostToolUse hook: warns when the context is filling up.",
    R"(Reads the hook's JSON from standard input. When 50, 60, 70, 80 or 90 percent of the session's context window is
used, the model is told so after the tool call, once for each threshold. Usage is taken from the last record in the
transcript that has it, or estimated from the transcript's size if there is none. CLAUDE_CONTEXT_WINDOW sets the window
in tokens (default: what the transcript says, else 200000).)",
    R"(echo '{"session_id": "s", "transcript_path": "/t.jsonl"}' | ralph hooks context-monitor)",
    kHookOptions,
    {},
    context_monitor,
};

}  // namespace ralph::cli
