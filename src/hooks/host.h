// Which hooks of a host agent call ralph, and how: the one table behind `ralph hooks install`, `ralph hooks uninstall`
// and what `ralph doctor` says of them. The plugin's hooks.json is the same table (a test compares them).
//
// A hook is one line for a shell, "ralph hooks stop", because that is what every version of every host understands. A
// Claude Code that does not know "args" yet would run a bare "ralph", and its exit code 2 refuses every prompt and
// tool.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "json/value.h"

namespace ralph {

enum class Host { kClaude, kCodex, kGemini };
inline constexpr std::array kHosts = {Host::kClaude, Host::kCodex, Host::kGemini};
inline constexpr std::string_view kHostNames = "claude|codex|gemini";

std::string_view name_of(Host host);    // "claude"
std::string_view title_of(Host host);   // "Claude Code"
std::string_view folder_of(Host host);  // ".claude"
std::string_view file_of(Host host);    // "settings.json", in that folder
std::optional<Host> host_from(std::string_view name);

// The host's event, and the hook of ralph that it calls.
struct HookWire {
  std::string_view event;    // "PreToolUse"
  std::string_view matcher;  // of the tools; empty: the event has none
  std::string_view hook;     // "pre-tool"
  int seconds;               // the host's time-out: longer than the hook's own deadline
};
std::span<const HookWire> wires_of(Host host);

// "ralph hooks stop --protocol gemini"; `program` is a name or a path, and is quoted where it has to be.
std::string command_of(Host host, const HookWire& wire, std::string_view program);
long long timeout_of(Host host, const HookWire& wire);  // in the host's own unit

// Whether a hook that stands in the project's file and in the user's, word for word, is run once.
bool runs_same_hook_once(Host host);

// The group of hooks that stands in the event's array.
json::object group_of(Host host, const HookWire& wire, std::string_view program);

// What calls ralph: a hook whose command begins with `ralph hooks NAME`, wherever that ralph is and whichever hook of
// the table it is.
struct RalphHook {
  std::string program;       // as it is written, without quotes
  std::string hook;          // "stop"
  bool has_company = false;  // a line that does more than this call: `ralph hooks stop 2>>log; bell`
};
std::optional<RalphHook> ralph_hook_in(const json::value& hook);

// A line that begins with such a call, with another one in its place; the rest of it stays.
std::string with_call(std::string_view line, std::string_view program, std::string_view hook);

// Claude Code ends a session after this many refused stops in a row without a tool call between them, 8 if it is not
// said; "0" is no limit. Loops have limits of their own, 100 by default; this one is far above them, so that it never
// gets in the way, and still there, so that no fault of ralph's can hold a session for ever.
inline constexpr std::string_view kBlockCapVariable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP";
inline constexpr long long kBlockCap = 1000;
bool is_cap_enough(std::string_view value);  // as high as kBlockCap, or none

}  // namespace ralph
