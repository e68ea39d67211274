// ralph hooks pre-tool: called by the host agent before a tool call. It never breaks the host: on any error the tool
// call is allowed, and standard error says why.
#include <array>
#include <exception>

#include "cli/hook_io.h"
#include "cli/policy_setup.h"
#include "cli/registry.h"
#include "hooks/log.h"
#include "policy/tool_policy.h"

namespace ralph::cli {
namespace {

constexpr std::string_view kHook = "pre-tool";
constexpr std::array kOptions = {kProtocolOption};

int judge(const Arguments& arguments) {
  const HookPayload payload = read_payload(kHook);
  const ToolUse use = tool_use_of(payload.tool_name, payload.tool_input);
  if (!use.command && use.writes.empty() && use.reads.empty()) return 0;
  const PolicySetup setup = policy_setup(Environment::of_this_process(), payload.cwd);
  if (!setup.fault.empty()) complain(kHook, setup.fault + " (the built-in list is used)");
  const auto objection = judge_tool(payload.tool_name, use, setup.lists, setup.place, setup.shell);
  if (!objection) return 0;
  const std::string reason = reason_of(*objection);
  // The reply comes first, so that a problem with the log can't delay it.
  const int code = send(deny_tool(protocol_of(arguments), reason));
  log_hook(payload.cwd, {kHook, payload.session, "denied", reason});
  return code;
}

int pre_tool(const Arguments& arguments) {
  try {
    return judge(arguments);
  } catch (const std::exception& fault) {  // out of memory and the like: the host must not suffer
    complain(kHook, fault.what());
    return 0;
  }
}

}  // namespace

const Command kHooksPreTool = {
    "hooks pre-tool",
    "For a host agent's PreToolUse hook: refuses dangerous commands.",
    R"(Reads the hook's JSON on standard input. A shell command is read as a shell would read it, and refused if it falls into one
of the categories of docs/formats/hooks.md: deletion outside of the project, credentials, forced pushes, sudo, ... Tools that
write files may not touch ralph's own state, its hooks and the scripts of guardrails. `hooks.commands` of the settings allows,
denies, and switches categories off. It is a seat belt, not a wall: SECURITY.md lists its limits.)",
    R"(echo '{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}' | ralph hooks pre-tool)",
    kOptions,
    {},
    pre_tool,
};

}  // namespace ralph::cli
