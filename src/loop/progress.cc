#include "loop/progress.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kWork = "work";

FailAction action_from(std::string_view name) {
  for (FailAction action : {FailAction::kPrepend, FailAction::kReplace}) {
    if (equals_ignoring_case(name, to_string(action))) return action;
  }
  return FailAction::kAppend;
}

struct Folding {
  Progress& progress;

  void operator()(const record::IterationStarted& started) {
    progress.iteration = static_cast<int>(started.iteration);
    progress.attempts = 0;
    progress.turn_outcome.clear();
    progress.response.reset();
    progress.guardrails_passed = 0;
    progress.guardrails_failed.clear();
    progress.collecting.clear();
  }

  void operator()(const record::AgentStarted& started) {
    if (started.purpose == kWork) progress.attempts = static_cast<int>(started.attempt);
  }

  void operator()(const record::AgentEnded& ended) {
    if (ended.purpose != kWork) return;
    progress.turn_outcome = ended.outcome;
    progress.response = ended.response;
    const bool failed = ended.outcome == "crashed" || ended.outcome == "empty";
    progress.failed_turns_in_row = failed ? progress.failed_turns_in_row + 1 : 0;
  }

  void operator()(const record::GuardrailEnded& ended) {
    if (ended.outcome == "passed") {
      ++progress.guardrails_passed;
      return;
    }
    progress.guardrails_failed.push_back(ended.name);
    if (!ended.feedback.empty()) progress.collecting.push_back({action_from(ended.fail_action), ended.feedback});
  }

  void operator()(const record::SignalReceived& received) {
    progress.stop_requests = std::max(progress.stop_requests, static_cast<int>(received.count));
  }

  // An iteration that was cut short keeps the feedback of the one before: what failed there has not been mended.
  void operator()(const record::IterationEnded&) { progress.feedback = std::move(progress.collecting); }

  template <class Other>
  void operator()(const Other&) {}
};

}  // namespace

Progress fold(Progress progress, const record::Body& body) {
  std::visit(Folding{progress}, body);
  return progress;
}

}  // namespace ralph
