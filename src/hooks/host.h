// The table of hook hosts: the programs that ralph's hooks serve. `ralph hooks install`, `ralph hooks uninstall`,
// `ralph doctor` and the hooks' replies read it; the plugin's hooks.json has the same wires (a test compares them). A
// new host needs one row, a Protocol if its replies differ from those below, and a file in share/ if its hooks are a
// program.
//
// In all other hosts, a hook is one shell command, "ralph hooks stop", because every version of every host understands
// that. A Claude Code too old for "args" would run a bare "ralph", whose exit code 2 would refuse every prompt and
// tool.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "embedded_host_files.h"
#include "json/value.h"
#include "os/environment.h"
#include "policy/paths.h"

namespace ralph {

// How a hook replies to its host.
enum class Protocol {
  kBlock,  // exit 0 and JSON; refuses with the decision "block"
  kDeny,   // the same, with "deny" instead of "block"
  kExit,   // exit 1 continues the session, exit 0 lets it stop; the reason is on standard error
};

// An event of the host, and the ralph hook that it calls.
struct HookWire {
  std::string_view event;    // "PreToolUse"
  std::string_view matcher;  // selects tools; empty: the event has none
  std::string_view hook;     // "pre-tool"
  int seconds;               // the host's time-out, longer than the hook's own deadline
};

struct Host {
  std::string_view name;           // for --host and --protocol
  std::string_view title;          // for display
  std::string_view folder, file;   // the settings with its hooks, in a project or in the user's home
  std::string_view home_folder{};  // the folder in the user's home, if named differently there
  std::string_view own_text{};     // the text of a `file` that is all ralph's, see own_file.h; empty: it is shared JSON
  std::string_view local_file{};   // a second, unshared file of this kind in a project; empty: none
  std::string_view folder_variable;  // environment variable that replaces the user's folder
  bool variable_is_parent = false;   // the variable replaces its parent folder instead
  std::span<const HookWire> wires;
  std::span<const std::string_view>
      protected_files;   // guarded by the command policy: its hooks, and what can disable them
  int timeout_unit = 1;  // its time-outs count this many units per second
  Protocol protocol = Protocol::kBlock;
  bool can_ask = false;             // a hook before a tool can make the host ask the user
  bool runs_same_hook_once = true;  // a hook that is identical in the project's and the user's file runs once
  // Sets the number of consecutive refused stops, without a tool call in between, after which the host ends a turn;
  // empty: it has no such cap. See kFormerBlockCap.
  std::string_view block_cap_variable{};
  int block_cap = 0;                      // if the variable is not set
  bool has_goal = false;                  // has its own /goal, which is judged at each stop
  std::string_view session_variable{};    // tells child processes their session; empty: there is none
  bool has_commands = false;              // reads slash commands from the folder "commands"
  std::string_view disable_plugin{};      // the command that disables ralph's plugin; empty: there is no plugin
  std::string_view trust{}, trust_fix{};  // its requirement for running a hook, and how to meet it
  bool trust_is_for_projects = false;     // required only for a project's hooks
  std::string_view hint{};                // shown after an installation
};

// Claude Code has a separate event for failed tool calls, which count as work too.
inline constexpr HookWire kClaudeWires[] = {
    {"SessionStart", "", "session-start", 10},     {"UserPromptSubmit", "", "user-prompt", 10},
    {"PreToolUse", ".*", "pre-tool", 10},          {"PostToolUse", ".*", "post-tool", 70},
    {"PostToolUseFailure", ".*", "post-tool", 10}, {"Stop", "", "stop", 600},
    {"SessionEnd", "", "session-end", 10},
};
inline constexpr HookWire kCodexWires[] = {
    {"SessionStart", "", "session-start", 10},
    {"UserPromptSubmit", "", "user-prompt", 10},
    {"PreToolUse", ".*", "pre-tool", 10},
    {"PostToolUse", ".*", "post-tool", 70},
    {"Stop", "", "stop", 600},
    {"SessionEnd", "", "session-end", 3},
};
inline constexpr HookWire kGeminiWires[] = {
    {"SessionStart", "", "session-start", 10}, {"BeforeAgent", "", "user-prompt", 10},
    {"BeforeTool", ".*", "pre-tool", 10},      {"AfterTool", ".*", "post-tool", 70},
    {"AfterAgent", "", "stop", 600},           {"SessionEnd", "", "session-end", 10},
};

// The events that call a hook in share/opencode-plugin.
inline constexpr HookWire kOpencodeWires[] = {
    {"chat.message", "", "session-start", 10},   {"chat.message", "", "user-prompt", 10},
    {"tool.execute.before", "", "pre-tool", 10}, {"tool.execute.after", "", "post-tool", 70},
    {"session.idle", "", "stop", 600},           {"session.deleted", "", "session-end", 10},
};

inline constexpr std::string_view kClaudeFiles[] = {".claude/settings*.json", ".claude/hooks", ".claude-plugin"};
inline constexpr std::string_view kCodexFiles[] = {".codex/hooks.json", ".codex/hooks", ".codex/config.toml"};
inline constexpr std::string_view kGeminiFiles[] = {".gemini/settings.json", ".gemini/hooks"};
inline constexpr std::string_view kOpencodeFiles[] = {".opencode/plugin", ".opencode/plugins",
                                                      ".config/opencode/plugin", ".config/opencode/plugins"};

// The first row is the default of --host and --protocol.
inline constexpr Host kHosts[] = {
    {.name = "claude",
     .title = "Claude Code",
     .folder = ".claude",
     .file = "settings.json",
     .local_file = "settings.local.json",
     .folder_variable = "CLAUDE_CONFIG_DIR",
     .wires = kClaudeWires,
     .protected_files = kClaudeFiles,
     .can_ask = true,
     .block_cap_variable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
     .block_cap = 8,
     .has_goal = true,
     .session_variable = "CLAUDE_CODE_SESSION_ID",
     .has_commands = true,
     .disable_plugin = "claude plugin disable ralph"},
    {.name = "codex",
     .title = "Codex",
     .folder = ".codex",
     .file = "hooks.json",
     .folder_variable = "CODEX_HOME",
     .wires = kCodexWires,
     .protected_files = kCodexFiles,
     .runs_same_hook_once = false,
     .has_goal = true,
     .trust = "Codex silently skips hooks that you have not trusted",
     .trust_fix =
         "start codex once and choose \"Trust all and continue\", or use its /hooks; repeat that after each change"},
    {.name = "gemini",
     .title = "Gemini CLI",
     .folder = ".gemini",
     .file = "settings.json",
     .folder_variable = "GEMINI_CLI_HOME",
     .variable_is_parent = true,
     .wires = kGeminiWires,
     .protected_files = kGeminiFiles,
     .timeout_unit = 1000,
     .protocol = Protocol::kDeny,
     .trust = "Gemini CLI runs a project's hooks only in a folder that it trusts",
     .trust_fix =
         "start gemini here once and trust the folder, or set GEMINI_CLI_TRUST_WORKSPACE=true (--skip-trust is "
         "not enough)",
     .trust_is_for_projects = true},
    {.name = "opencode",
     .title = "opencode",
     .folder = ".opencode/plugin",
     .file = "ralph.js",
     .home_folder = ".config/opencode/plugin",
     .own_text = embedded::ralph_js,
     .folder_variable = "XDG_CONFIG_HOME",
     .variable_is_parent = true,
     .wires = kOpencodeWires,
     .protected_files = kOpencodeFiles,
     .runs_same_hook_once = false,
     .hint = "opencode reads it when it starts. A loop holds in its TUI and in `opencode serve`; `opencode run` ends "
             "at the "
             "first stop: use `ralph loop run` there"},
};

constexpr const Host* find_host(std::string_view name) {
  for (const Host& host : kHosts) {
    if (host.name == name) return &host;
  }
  return nullptr;
}

// The values of --protocol: "claude|codex|...|exit". --host takes all but the last.
inline constexpr std::string_view kExitProtocol = "exit";
inline constexpr auto kProtocolChoicesText = [] {
  std::array<char, 256> text{};  // does not compile if this is too small
  char* end = text.data();
  for (const Host& host : kHosts) {
    end = std::copy(host.name.begin(), host.name.end(), end);
    *end++ = '|';
  }
  std::copy(kExitProtocol.begin(), kExitProtocol.end(), end);
  return text;
}();
inline constexpr std::string_view kProtocolChoices = kProtocolChoicesText.data();
inline constexpr std::string_view kHostChoices = kProtocolChoices.substr(0, kProtocolChoices.rfind('|'));

// What the command policy needs to know about every host.
std::vector<PolicyHost> policy_hosts();

// The session that this process runs in; empty: none, or the host does not say.
std::string enclosing_session_id(const Environment& environment);

std::optional<Protocol> protocol_from(std::string_view name);  // the name of a host, or "exit"

// "ralph hooks stop --protocol gemini"; `program` is a name or a path, and is quoted if necessary.
std::string command_of(const Host& host, const HookWire& wire, std::string_view program);
long long timeout_of(const Host& host, const HookWire& wire);  // in the host's unit

// The group of hooks for the event's array.
json::object group_of(const Host& host, const HookWire& wire, std::string_view program);

// A hook that calls ralph: its command begins with `ralph hooks NAME`, with any path to ralph, for any hook in the
// table.
struct RalphHook {
  std::string program;     // as written, without quotes
  std::string hook;        // "stop"
  bool does_more = false;  // the command does more than this call: `ralph hooks stop 2>>log; bell`
};
std::optional<RalphHook> ralph_hook_in(const json::value& hook);

// `line` begins with such a call. Returns it with the call replaced and the rest unchanged.
std::string with_call(std::string_view line, std::string_view program, std::string_view hook);

// Version 0.1 set the host's cap to this value; ralph now reverts that and leaves the cap alone. A loop that makes
// progress never reaches it, because a tool call resets it, and nothing else stops the host's own /goal.
inline constexpr std::string_view kFormerBlockCap = "1000";
bool is_cap_raised(const Host& host, std::string_view value);  // above the host's default, or disabled by "0"

}  // namespace ralph
