// ralph hooks pre-tool: called by the host agent before a tool call. It never breaks the host: on any error the tool
// call is allowed, and standard error says why.
#include <algorithm>
#include <exception>

#include "base/text.h"
#include "checks/path_pattern.h"
#include "cli/hook_io.h"
#include "cli/policy_setup.h"
#include "cli/registry.h"
#include "hooks/log.h"
#include "os/files.h"
#include "policy/tool_policy.h"
#include "session/loop_store.h"
#include "settings/remembered.h"

namespace ralph::cli {
namespace {

// Whether there is a person at the session whom the host would ask. Nobody watches an agent of a run or a session with
// a loop, and in some modes the host never asks.
bool can_ask(const HookCall& call) {
  if (!call.host || !call.host->can_ask || call.is_inside_run()) return false;
  if (is_listed("bypassPermissions dontAsk", call.payload.permission_mode)) return false;
  const auto project = project_of_session(call.environment, call.payload.session);
  if (!project) return true;
  const auto loop = LoopStore(*project, call.environment).load(call.payload.session);
  return loop && !(*loop && (*loop)->active());
}

bool has_loop(const HookCall& call) {
  const auto project = project_of_session(call.environment, call.payload.session);
  if (!project) return false;
  const auto loop = LoopStore(*project, call.environment).load(call.payload.session);
  return loop && *loop && (*loop)->active();
}

// Wildcards, and parts that are known only at run time.
constexpr std::string_view kOpenEnds = "*?[\xff";
static_assert(kOpenEnds.back() == kUnknownPart);

// A name such as tests/*, or one that is partly unknown: it may stand for any matching file in that folder.
bool may_name_protected(const std::string& name, const std::string& project, const std::vector<std::string>& patterns) {
  const size_t slash = name.rfind('/', name.find_first_of(kOpenEnds));
  if (slash == std::string::npos) return false;
  const std::string folder = name.substr(0, slash);
  const std::string last = base_name(name);
  return path_exists(join_path(project, folder)) && std::ranges::any_of(patterns, [&](const std::string& pattern) {
           const std::string_view root = literal_part(pattern);
           const std::string wanted = base_name(pattern);
           const bool fits = contains(last, kUnknownPart) || wanted == "**" || pattern == root ||
                             wildcard_matches(last, wanted) || wildcard_matches(wanted, last);
           return !root.empty() && is_within(folder, root) && fits;
         });
}

// A person's own session may edit files that a loop must leave alone. New files do not count as changes.
void protect_files(PolicySetup& setup, const HookCall& call) {
  if (setup.protected_paths.empty() || !(call.is_inside_run() || has_loop(call))) return;
  setup.place.is_protected = [paths = setup.protected_paths, project = setup.place.project](const std::string& path,
                                                                                            bool or_above) {
    if (!is_within(path, project) || path == project) return false;
    const std::string name = path.substr(project.size() + 1);
    if (name.find_first_of(kOpenEnds) != std::string::npos) return may_name_protected(name, project, paths);
    if (!path_exists(path)) return false;
    return std::any_of(paths.begin(), paths.end(), [&](const std::string& pattern) {
      return matches_path(pattern, name) || (or_above && is_within(literal_part(pattern), name));
    });
  };
}

int judge(HookCall& call) {
  const HookPayload& payload = call.read();
  const ToolUse use = tool_use_of(payload.tool_name, payload.tool_input);
  if (!use.command && use.writes.empty() && use.reads.empty()) return 0;
  PolicySetup setup = policy_setup(call.environment, payload.cwd, call.project);
  protect_files(setup, call);
  call.complain(setup.faults);
  // Once, not before every tool call.
  if (!setup.notes.empty() && is_news(call.environment, setup.place.project, join(setup.notes, "\n")))
    call.complain(setup.notes);
  const auto objection = judge_tool(payload.tool_name, use, setup.lists, setup.place, setup.shell);
  if (!objection) return 0;
  const bool asks = objection->only_asked && can_ask(call);
  const std::string reason = asks ? question_of(*objection) : reason_of(*objection);
  // The reply comes first, so that a problem with the log can't delay it.
  const int code = send(asks ? ask_about_tool(reason) : deny_tool(call.protocol, reason));
  log_hook(payload.cwd, {call.hook, payload.session, asks ? "asked" : "denied", reason});
  return code;
}

Result<int> pre_tool(const Arguments& arguments) {
  HookCall call("pre-tool", arguments);
  try {
    return judge(call);
  } catch (const std::exception& fault) {  // out of memory and the like: the host must not suffer
    call.complain(fault.what());
    return 0;
  }
}

}  // namespace

const Command kHooksPreTool = {
    "hooks pre-tool",
    "For a host agent's PreToolUse hook: refuses dangerous commands.",
    R"(Reads the hook's JSON from standard input. A shell command is parsed as a shell would parse it, and refused if it
falls into one of the categories in docs/formats/hooks.md: deleting files outside the project, reading credentials,
forced pushes, sudo, ... Tools that write files may not touch ralph's own state, its hooks or guardrail scripts.
`hooks.commands` in the settings allows or denies commands and turns categories off. If the line alone does not show
what a command does, the user is asked; if nobody is there to answer, it is denied. This is a seat belt, not a wall:
SECURITY.md lists its limits.)",
    R"(echo '{"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}}' | ralph hooks pre-tool)",
    kHookOptions,
    {},
    pre_tool,
};

}  // namespace ralph::cli
