#include <algorithm>
#include <array>

#include "agents/adapter.h"

namespace ralph {
namespace {

constexpr std::array<const Adapter*, 5> kAdapters = {&kClaude, &kCodex, &kAmp, &kGemini, &kOpencode};

TurnArguments nothing_more(const TurnWishes&, const HasFlag&) {
  return {};
}
void leave_as_it_is(Environment&) {}
StartFailure unknown_failure(int, std::string_view) {
  return {};
}

constexpr Adapter kCustom = {"custom", "",           PromptPath::kArgument, false,           false,
                             false,    nothing_more, leave_as_it_is,        unknown_failure, ""};

}  // namespace

bool TurnWishes::user_says(std::initializer_list<std::string_view> flags) const {
  return std::any_of(user_flags.begin(), user_flags.end(), [&](const std::string& word) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    return std::find(flags.begin(), flags.end(), name) != flags.end();
  });
}

std::span<const Adapter* const> adapters() {
  return kAdapters;
}

const Adapter* find_adapter(std::string_view name) {
  const auto found =
      std::find_if(kAdapters.begin(), kAdapters.end(), [&](const Adapter* one) { return one->name == name; });
  return found == kAdapters.end() ? nullptr : *found;
}

const Adapter& custom_adapter() {
  return kCustom;
}

void leave_host_agent(Environment& environment) {
  for (const char* name :
       {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR",
        "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PID", "CLAUDE_ENV_FILE", "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI", "OPENCODE", "AGENT"}) {
    environment.unset(name);
  }
}

}  // namespace ralph
