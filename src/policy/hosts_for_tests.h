// Hosts like those in hooks/host.h, which this module must not include.
#pragma once

#include <vector>

#include "policy/paths.h"

namespace ralph {

inline std::vector<PolicyHost> hosts_for_tests() {
  static constexpr std::string_view kOfClaude[] = {".claude/settings*.json", ".claude/hooks", ".claude-plugin"};
  static constexpr std::string_view kOfCodex[] = {".codex/hooks.json", ".codex/hooks", ".codex/config.toml"};
  static constexpr std::string_view kOfGemini[] = {".gemini/settings.json", ".gemini/hooks"};
  return {{"claude", kOfClaude, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"}, {"codex", kOfCodex}, {"gemini", kOfGemini}};
}

}  // namespace ralph
