// Claude Code: `claude -p --output-format stream-json`, prompt on standard input, where it has no size limit and a flag
// that takes several values (--allowedTools) can't swallow it.
#include "agents/claude.h"

#include <algorithm>

#include <fmt/format.h>

#include "agents/hook_settings.h"
#include "agents/registry.h"
#include "base/text.h"

namespace ralph {
namespace {

// ---- how it is started

bool sets_permissions(const TurnOptions& options) {
  return options.user_sets({"--permission-mode", "--dangerously-skip-permissions", "--allowedTools", "--allowed-tools",
                            "--permission-prompt-tool"});
}

constexpr std::string_view kRefusedToRoot =
    "claude refuses --dangerously-skip-permissions as root; run ralph as another user, or use "
    "--permission-mode acceptEdits with --allowedTools in agent.flags";

bool skips_permissions(const TurnOptions& options) {
  if (options.skip_permissions && !sets_permissions(options)) return true;
  return std::ranges::any_of(options.user_flags, [](const std::string& flag) {
    return flag == "--dangerously-skip-permissions" || flag == "bypassPermissions" ||
           flag == "--permission-mode=bypassPermissions";
  });
}

std::string_view foreseen_refusal(const TurnOptions& options, const Environment& environment, bool is_root) {
  const bool refuses = is_root && skips_permissions(options) && environment.get("IS_SANDBOX") != "1";
  return refuses ? kRefusedToRoot : std::string_view();
}

TurnArguments claude_arguments(const TurnOptions& options, const HasFlag& has_flag) {
  TurnArguments result;
  // A stream of events needs --verbose; without it claude refuses to start.
  result.before = options.events ? std::vector<std::string>{"-p", "--output-format", "stream-json", "--verbose"}
                                 : std::vector<std::string>{"-p", "--output-format", "text"};
  if (!options.model.empty()) result.before.insert(result.before.end(), {"--model", options.model});
  if (options.skip_permissions && !sets_permissions(options))
    result.before.emplace_back("--dangerously-skip-permissions");
  if (!options.hooks.empty()) result.before.insert(result.before.end(), {"--settings", hook_settings(options.hooks)});
  if (!options.resume.empty()) result.before.insert(result.before.end(), {"--resume", options.resume});
  if (options.max_cost_usd && has_flag("--help", "--max-budget-usd")) {
    result.before.insert(result.before.end(), {"--max-budget-usd", fmt::format("{:.4f}", *options.max_cost_usd)});
  }
  return result;
}

StartFailure claude_start_failure(int, std::string_view error) {
  if (contains(error, "cannot be used with root/sudo privileges")) {
    return {FailureKind::kPermissionDenied, std::string(kRefusedToRoot)};
  }
  if (contains(error, "No conversation found with session ID")) {
    return {FailureKind::kOther, "claude does not know the session to resume"};
  }
  if (contains(error, "error: unknown option")) {
    return {FailureKind::kPermissionDenied, "claude does not know one of its options; correct agent.flags"};
  }
  return {};
}

// ---- its row

constexpr const char* kClaudeChildVariables[] = {
    "CLAUDECODE",         "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT",     "CLAUDE_PLUGIN_DATA",     "CLAUDE_PID",
    "CLAUDE_ENV_FILE"};
constexpr DeniedCall kClaudeDeniedCalls[] = {{"PreToolUse:", " hook error: "},  // "PreToolUse:Bash hook error: REASON"
                                             {"Claude requested permissions to ", "but you haven't granted it yet"},
                                             {"Permission to use ", " has been denied"},
                                             {"The user doesn't want to proceed with this tool use"}};
constexpr std::string_view kFreeTools[] = {
    "Read",     "Glob",    "Grep",       "LS",   "NotebookRead", "TodoWrite",  "TaskCreate", "TaskUpdate",
    "TaskList", "TaskGet", "TaskOutput", "Task", "Agent",        "ToolSearch", "Skill",      "BashOutput"};
constexpr PermissionFlag kPermissionFlags[] = {
    {"--permission-mode acceptEdits", "it may edit files; for commands add e.g. --allowedTools=\"Bash(make:*)\""},
    {"--dangerously-skip-permissions", "it may do anything: only in a container, VM or sandbox"}};

// For a sandbox.
constexpr std::string_view kClaudeNeededVariables[] = {"ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "MAX_THINKING_TOKENS",
                                                       "IS_SANDBOX"};
constexpr std::string_view kClaudeCopied[] = {".claude/.credentials.json"};
constexpr std::string_view kClaudeReadOnly[] = {".claude/settings.json", ".claude/CLAUDE.md", ".claude/agents",
                                                ".claude/commands",      ".claude/skills",    ".claude/hooks",
                                                ".claude/plugins"};
constexpr std::string_view kClaudeHosts[] = {"api.anthropic.com", "console.anthropic.com", "platform.claude.com"};
constexpr std::string_view kClaudeKeptInMachine[] = {".claude", ".claude.json"};
constexpr SandboxNeeds kClaudeNeeds = {kClaudeNeededVariables, kClaudeCopied, kClaudeReadOnly, kClaudeHosts, "claude",
                                       kClaudeKeptInMachine,   true};

constexpr std::string_view kClaudeProgramKeys =
    "hooks disableAllHooks permissions env apiKeyHelper awsAuthRefresh awsCredentialExport gcpAuthRefresh "
    "otelHeadersHelper statusLine subagentStatusLine fileSuggestion enableAllProjectMcpServers enabledMcpjsonServers "
    "disabledMcpjsonServers enabledPlugins extraKnownMarketplaces sandbox";
constexpr AgentFile kClaudeFiles[] = {{".claude/settings.json", kClaudeProgramKeys},
                                      {".claude/settings.local.json", kClaudeProgramKeys},
                                      {".mcp.json", "mcpServers"},
                                      {".claude/", "rules worktrees", false}};
constexpr AgentFile kClaudeUsersFiles[] = {
    {"settings.json", kClaudeProgramKeys, false, "CLAUDE_CONFIG_DIR", ".claude"},
    {".claude.json", "mcpServers", false, "CLAUDE_CONFIG_DIR", ""},
};

}  // namespace

constinit const Adapter kClaude = {.name = "claude",
                                   .version_flag = "--version",
                                   .reports_cost = true,
                                   .ends_with_result = true,
                                   .make_parser = make_claude_parser,
                                   .arguments = claude_arguments,
                                   .start_failure = claude_start_failure,
                                   .interactive = "",
                                   .child_variables = kClaudeChildVariables,
                                   .denied_calls = kClaudeDeniedCalls,
                                   .permission_flags = kPermissionFlags,
                                   .sets_permissions = sets_permissions,
                                   .free_tools = kFreeTools,
                                   .needs = kClaudeNeeds,
                                   .files = kClaudeFiles,
                                   .users_files = kClaudeUsersFiles,
                                   .hooks = {.flags = true, .flag = "--settings"},
                                   .foreseen_refusal = foreseen_refusal};

}  // namespace ralph
