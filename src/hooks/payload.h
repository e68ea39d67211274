// The JSON that a host sends to a hook on standard input. Fields that a host does not send are empty; unknown fields
// are ignored. Specified in docs/formats/hooks.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/fields.h"
#include "session/stop.h"

namespace ralph {

struct HookPayload {
  std::string event;    // hook_event_name: Stop, PreToolUse, UserPromptSubmit, AfterAgent, ...
  std::string session;  // session_id; empty: unknown, and matches no session
  std::string transcript_path;
  std::string cwd;       // absolute, or empty
  std::string agent_id;  // of a sub-agent; empty: the session itself
  std::string source;    // of SessionStart: startup, resume, clear, compact, ...
  std::string reason;    // of SessionEnd: clear, logout, other, ...
  std::string prompt_id;                      // of the user's prompt; Codex: of the turn
  std::vector<std::string> background_tasks;  // ids of tasks still running at a Stop
  bool tool_calls_counted = false;  // post-tool was called for every tool call, so no call means no tool was used
  std::string prompt;               // of UserPromptSubmit (and of Gemini's BeforeAgent and AfterAgent), as typed
  std::string tool_name, tool_use_id;
  std::string permission_mode;  // default, plan, bypassPermissions, ...
  json::value tool_input;       // null if there is none

  // The assistant's last message; nullopt if the host did not send it.
  std::optional<std::string> last_message;
  // Gemini's prompt_response: everything said since the user's prompt, with some pieces repeated.
  std::optional<std::string> all_words;

  template <class V>
  void fields(V&& v) {
    v("hook_event_name", event), v("session_id", session), v("transcript_path", transcript_path), v("cwd", cwd);
    v("agent_id", agent_id), v("source", source), v("reason", reason), v("prompt", prompt);
    v("tool_calls_counted", tool_calls_counted);
    v("tool_name", tool_name), v("tool_use_id", tool_use_id), v("tool_input", tool_input);
    v("permission_mode", permission_mode), v("turn_id", prompt_id), v("prompt_id", prompt_id);
    v("last_assistant_message", last_message), v("prompt_response", all_words);
  }
};

// Never fails: an unreadable field stays empty, and `fault`, if given, says what was wrong.
HookPayload payload_from(std::string_view text, std::string* fault = nullptr);

// The part of a Stop hook's payload that describes its session.
StopRequest stop_request_from(const HookPayload& payload);

}  // namespace ralph
