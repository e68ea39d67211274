// Amp: `amp … -x PROMPT`; -x and the prompt have to stand together at the end. A prompt that is too large for an
// argument goes on standard input, which -x without a value reads.
#include "agents/adapter.h"

namespace ralph {
namespace {

TurnArguments arguments(const TurnWishes& wishes, const HasFlag&) {
  TurnArguments result;
  if (!wishes.resume.empty()) result.before.insert(result.before.end(), {"threads", "continue", wishes.resume});
  if (wishes.events) result.before.emplace_back("--stream-json");
  if (!wishes.user_says({"--dangerously-allow-all"})) result.before.emplace_back("--dangerously-allow-all");
  result.after = {"-x"};
  return result;
}

void prepare(Environment&) {}

StartFailure start_failure(int, std::string_view error) {
  if (error.find("getUserInfo failed: 401") != std::string_view::npos ||
      error.find("amp login") != std::string_view::npos) {
    return {FailureKind::kAuthentication, "amp is not logged in; run 'amp login', or set AMP_API_KEY"};
  }
  return {};
}

}  // namespace

const Adapter kAmp = {"amp",     "amp",   PromptPath::kArgument, false,       true, true,
                      arguments, prepare, start_failure,         std::nullopt};

}  // namespace ralph
