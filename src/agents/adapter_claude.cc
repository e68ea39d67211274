// Claude Code: `claude -p`, prompt on standard input: it has no size limit there, and a flag that takes several values
// (--allowedTools) can't swallow it.
#include "agents/adapter.h"
#include "base/text.h"

namespace ralph {
namespace {

TurnArguments arguments(const TurnWishes& wishes, const HasFlag& has_flag) {
  TurnArguments result;
  // A stream of events needs --verbose; without it claude refuses to start.
  result.before = wishes.events ? std::vector<std::string>{"-p", "--output-format", "stream-json", "--verbose"}
                                : std::vector<std::string>{"-p", "--output-format", "text"};
  if (!wishes.model.empty()) result.before.insert(result.before.end(), {"--model", wishes.model});
  const bool user_decides = wishes.user_says({"--permission-mode", "--dangerously-skip-permissions", "--allowedTools",
                                              "--allowed-tools", "--permission-prompt-tool"});
  if (wishes.skip_permissions && !user_decides) result.before.emplace_back("--dangerously-skip-permissions");
  if (!wishes.resume.empty()) result.before.insert(result.before.end(), {"--resume", wishes.resume});
  if (wishes.max_cost_usd && has_flag("--help", "--max-budget-usd")) {
    result.before.insert(result.before.end(), {"--max-budget-usd", fmt::format("{:.4f}", *wishes.max_cost_usd)});
  }
  return result;
}

void prepare(Environment&) {}

StartFailure start_failure(int, std::string_view error) {
  if (error.find("cannot be used with root/sudo privileges") != std::string_view::npos) {
    return {FailureKind::kPermissionDenied,
            "claude refuses --dangerously-skip-permissions as root; run ralph as another user, or use "
            "--permission-mode acceptEdits with --allowedTools in agent.flags"};
  }
  if (error.find("No conversation found with session ID") != std::string_view::npos) {
    return {FailureKind::kOther, "claude does not know the session to resume"};
  }
  if (error.find("error: unknown option") != std::string_view::npos) {
    return {FailureKind::kPermissionDenied, "claude does not know one of its options; correct agent.flags"};
  }
  return {};
}

}  // namespace

const Adapter kClaude = {"claude",  "claude", PromptPath::kStdin, true, true, true,
                         arguments, prepare,  start_failure,      ""};

}  // namespace ralph
