#include "agents/refused_call.h"

namespace ralph {

bool is_denied_by_hook(std::string_view output) {
  // Claude Code: "PreToolUse:Bash hook error: REASON"
  constexpr std::string_view kClaude = "PreToolUse:";
  constexpr size_t kLongestName = 200;
  if (output.starts_with(kClaude))
    return output.substr(0, kLongestName).find(" hook error: ") != std::string_view::npos;
  // Codex: "Command blocked by PreToolUse hook: REASON. Command: LINE"
  return output.starts_with("Command blocked by PreToolUse hook:") ||
         output.starts_with("Tool call blocked by PreToolUse hook:");
}

}  // namespace ralph
