// opencode: `opencode run`, prompt on standard input.
#include "agents/adapter.h"

namespace ralph {
namespace {

TurnArguments arguments(const TurnWishes& wishes, const HasFlag&) {
  TurnArguments result;
  result.before = {"run"};
  if (wishes.events) result.before.insert(result.before.end(), {"--format", "json"});
  if (!wishes.model.empty()) result.before.insert(result.before.end(), {"--model", wishes.model});
  if (!wishes.resume.empty()) result.before.insert(result.before.end(), {"--session", wishes.resume});
  return result;
}

void prepare(Environment&) {}

StartFailure start_failure(int, std::string_view error) {
  if (error.find("Session not found") != std::string_view::npos) {
    return {FailureKind::kOther, "opencode does not know the session to resume"};
  }
  return {};
}

}  // namespace

const Adapter kOpencode = {"opencode", "opencode", PromptPath::kStdin, true,      true, false,
                           arguments,  prepare,    start_failure,      "--prompt"};

}  // namespace ralph
