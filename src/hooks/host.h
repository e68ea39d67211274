// The table of hook hosts: the programs that ralph's hooks serve. `ralph hooks install`, `ralph hooks uninstall`,
// `ralph doctor` and the hooks' replies read it; the plugin's hooks.json has the same wires (a test compares them). A
// new host is one row, a Protocol if its replies differ from those below, and a file in share/ if its hooks are a
// program.
//
// Elsewhere a hook is one shell command, "ralph hooks stop", because every version of every host understands that. A
// Claude Code too old for "args" would run a bare "ralph", and its exit code 2 would refuse every prompt and tool.
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

// An event of the host, and the hook of ralph that it calls.
struct HookWire {
  std::string_view event;    // "PreToolUse"
  std::string_view matcher;  // of the tools; empty: the event has none
  std::string_view hook;     // "pre-tool"
  int seconds;               // the host's time-out: longer than the hook's own deadline
};

struct Host {
  std::string_view name;           // for --host and --protocol
  std::string_view title;          // for people
  std::string_view folder, file;   // of the settings with its hooks, in a project or in the user's home
  std::string_view home_folder{};  // the folder in the user's home, if it has another name there
  std::string_view own_text{};    // of a `file` that is all ralph's, see own_file.h; empty: it is JSON, and others' too
  std::string_view local_file{};  // a second such file of a project, which is not shared; empty: none
  std::string_view folder_variable;  // replaces the user's folder
  bool variable_is_parent = false;   // or replaces the folder above it
  std::span<const HookWire> wires;
  std::span<const std::string_view>
      protected_files;   // what the command policy guards: its hooks, and what can disable them
  int timeout_unit = 1;  // its time-outs count this many units per second
  Protocol protocol = Protocol::kBlock;
  bool can_ask = false;             // a hook before a tool may have the user asked
  bool runs_same_hook_once = true;  // a hook that is the same in the project's file and the user's runs once
  // Sets after how many refused stops in a row, without a tool call between them, the host ends a turn; empty: it has
  // no such cap. See kFormerBlockCap.
  std::string_view block_cap_variable{};
  int block_cap = 0;                      // if the variable is not set
  bool has_goal = false;                  // has a /goal of its own, which is judged at each stop
  std::string_view session_variable{};    // tells its children the session that they run in; empty: there is none
  bool has_commands = false;              // reads slash commands from the folder "commands"
  std::string_view disable_plugin{};      // the command that disables ralph's plugin; empty: there is no plugin
  std::string_view trust{}, trust_fix{};  // what it demands before it runs a hook, and how to satisfy it
  bool trust_is_for_projects = false;     // it demands that only of the hooks of a project
  std::string_view hint{};                // what to know after an installation
};

// Claude Code also has an event for a tool call that failed, which is work too.
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

// What calls a hook in share/opencode-plugin.
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

// "claude|codex|...|exit" is what --protocol takes, and without its last word what --host takes.
inline constexpr std::string_view kExitProtocol = "exit";
inline constexpr auto kProtocolChoicesText = [] {
  std::array<char, 256> text{};  // if that is too small, it does not compile
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

// What the command policy has to know of every host.
std::vector<PolicyHost> policy_hosts();

// The session that this process runs in; empty: none, or the host does not tell.
std::string enclosing_session_id(const Environment& environment);

std::optional<Protocol> protocol_from(std::string_view name);  // the name of a host, or "exit"

// "ralph hooks stop --protocol gemini"; `program` is a name or a path, and is quoted if necessary.
std::string command_of(const Host& host, const HookWire& wire, std::string_view program);
long long timeout_of(const Host& host, const HookWire& wire);  // in the host's unit

// The group of hooks for the event's array.
json::object group_of(const Host& host, const HookWire& wire, std::string_view program);

// A hook that calls ralph: its command begins with `ralph hooks NAME`, wherever that ralph is, for any hook of the
// table.
struct RalphHook {
  std::string program;       // as written, without quotes
  std::string hook;          // "stop"
  bool has_company = false;  // the command does more than this call: `ralph hooks stop 2>>log; bell`
};
std::optional<RalphHook> ralph_hook_in(const json::value& hook);

// `line`, which begins with such a call, with the call replaced; the rest stays.
std::string with_call(std::string_view line, std::string_view program, std::string_view hook);

// Version 0.1 set the host's cap to this. A loop that works never meets the cap, because a tool call resets it, and it
// is the only brake of the host's own /goal: so ralph leaves it alone now, and takes that value back.
inline constexpr std::string_view kFormerBlockCap = "1000";
bool is_cap_raised(const Host& host, std::string_view value);  // above the host's own, or removed by "0"

}  // namespace ralph
