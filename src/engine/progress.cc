#include "engine/progress.h"

#include <algorithm>

#include "base/text.h"
#include "base/time.h"

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
  WallTime time;  // of the record

  void operator()(const record::IterationStarted& started) {
    progress.iteration = static_cast<int>(started.iteration);
    progress.attempts = 0;
    progress.failed_attempts = 0;
    progress.turn_outcome.clear();
    progress.turn_reason.clear();
    progress.response.reset();
    progress.guardrails_passed = 0;
    progress.guardrails_failed.clear();
    progress.collecting.clear();
  }

  void operator()(const record::AgentStarted& started) {
    if (started.purpose == kWork) progress.attempts = static_cast<int>(started.attempt);
  }

  void operator()(const record::AgentEnded& ended) {
    const Tokens tokens{ended.input_tokens, ended.output_tokens, ended.cache_read_tokens, ended.cache_write_tokens};
    progress.tokens += tokens;
    progress.cost_usd += ended.cost_usd;
    if (ended.purpose != kWork) return;
    progress.turn_outcome = ended.outcome;
    progress.turn_reason = ended.reason;
    progress.turn_agent = ended.agent;
    progress.response = ended.response;
    const bool failed = ended.outcome == "crashed" || ended.outcome == "empty";
    if (failed) ++progress.failed_attempts;
    progress.failed_turns_in_row = failed ? progress.failed_turns_in_row + 1 : 0;
    progress.overloads_in_row = ended.outcome == "overloaded" ? progress.overloads_in_row + 1 : 0;
    if (ended.outcome == "usage_limit") {
      const auto known = progress.limited.find(ended.agent);
      const int times = known == progress.limited.end() ? 1 : known->second.times + 1;
      progress.limited[ended.agent] = {from_iso8601(ended.resets_at), time, times};
    } else {
      progress.limited.erase(ended.agent);
    }
    progress.tool_calls += static_cast<int>(ended.tools);
    remember_session(ended, tokens);
    if (ended.session.empty()) return;
    Progress::Session last{ended.session, ended.agent, {}, 0};
    if (progress.last_session && progress.last_session->id == ended.session) last = *progress.last_session;
    last.tokens += tokens;
    last.cost_usd += ended.cost_usd;
    progress.last_session = last;
  }

  // Only a turn that was cut off from outside is worth going on with, and only if it had begun to work.
  void remember_session(const record::AgentEnded& ended, const Tokens& tokens) {
    const bool cut_off = ended.outcome == "usage_limit" || ended.outcome == "overloaded";
    if (!cut_off || ended.session.empty() || ended.tools == 0) {
      if (!cut_off) progress.session.reset();
      return;
    }
    const bool same = progress.session && progress.session->id == ended.session;
    Progress::Session session = same ? *progress.session : Progress::Session{ended.session, ended.agent, {}, 0};
    session.tokens += tokens;
    session.cost_usd += ended.cost_usd;
    progress.session = session;
  }

  // The first of them: if they run again in an iteration, what they said before does not count.
  void operator()(const record::GuardrailStarted& started) {
    if (started.index != 1) return;
    progress.guardrails_passed = 0;
    progress.guardrails_failed.clear();
    progress.collecting.clear();
  }

  void operator()(const record::GuardrailEnded& ended) {
    if (ended.outcome == "passed") {
      ++progress.guardrails_passed;
      return;
    }
    progress.guardrails_failed.push_back(ended.name);
    if (!ended.feedback.empty()) progress.collecting.push_back({action_from(ended.fail_action), ended.feedback});
  }

  void operator()(const record::PlanChecked& checked) {
    progress.plan = {static_cast<int>(checked.stories), static_cast<int>(checked.done), checked.open};
    if (!checked.feedback.empty()) progress.collecting.push_back({FailAction::kAppend, checked.feedback});
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

Progress fold(Progress progress, const record::Record& written) {
  std::visit(Folding{progress, written.time}, written.body);
  return progress;
}

}  // namespace ralph
