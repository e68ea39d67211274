#include "engine/reasons.h"

#include "base/utf8.h"
#include "git/dot_git.h"

namespace ralph {
namespace {

constexpr size_t kNameWidth = 60;  // for a guardrail's name, which may be a long command

std::string how_the_attempt_ended(const Situation& c) {
  if (c.turn_was({TurnOutcome::kOk, TurnOutcome::kEmpty})) return "the last attempt ended with exit code 0";
  if (c.turn_was({TurnOutcome::kNone})) return "no attempt has ended yet";
  return fmt::format("the last attempt failed: {}", c.progress.turn_reason);
}

std::string some_of(const std::vector<std::string>& all) {
  constexpr size_t kNamed = 3;
  std::vector<std::string> names(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kNamed)));
  if (all.size() > kNamed) names.push_back(fmt::format("{} more", all.size() - kNamed));
  return join_for_people(names);
}

// A person has to check such stories: the last review still had objections.
std::string cap_phrase(const Situation& c) {
  const std::vector<std::string>& stories = c.progress.plan.at_cap;
  if (stories.empty()) return "";
  return fmt::format(" ({} by the review cap, with open points in {} reviewFeedback)", some_of(stories),
                     stories.size() == 1 ? "its" : "their");
}

std::string failed_names(const Situation& c) {
  std::vector<std::string> names;
  for (const std::string& name : c.progress.guardrails_failed) names.push_back(fit_to_width(name, kNameWidth));
  return join_for_people(names);
}

}  // namespace

std::string what_passed(const Situation& c) {
  int passed = c.progress.guardrails_passed;
  const std::string_view noun = c.policy.plan || c.policy.checks > 0 ? "check" : "guardrail";
  if (c.policy.has_criteria()) {
    // In a session the diagnostics are one of the checks, and have no separate snapshot in Progress.
    if (c.progress.diagnosed.snapshots.empty() && passed > 0) --passed;
    if (passed == 0) return "the diagnostic criteria hold";
    return fmt::format("{} {} passed and the diagnostic criteria hold", passed,
                       passed == 1 ? noun : std::string(noun) + "s");
  }
  if (passed == 0) return fmt::format("there are no {}s", noun);
  return passed == 1 ? fmt::format("the {} passed", noun) : fmt::format("all {} {}s passed", passed, noun);
}

std::string what_failed(const Situation& c) {
  if (c.progress.guardrails_failed.empty()) return what_is_held(c.progress);
  return fmt::format("{} failed", failed_names(c));
}

std::string what_a_stop_lacks(const Situation& c) {
  if (c.now.checks.ran || c.is_held_by_files()) return fmt::format("success: {}", what_failed(c));
  if (c.now.checks.running) return "a result of the checks";
  return c.now.signals.promised ? "work behind the promise" : "the promise";
}

std::string what_the_agent_answered(const Situation& c) {
  if (c.turn_was({TurnOutcome::kNotStarted}))
    return fmt::format("its last turn could not be started: {}", c.progress.turn_reason);
  if (c.turn_was({TurnOutcome::kCrashed})) return fmt::format("its last turn crashed: {}", c.progress.turn_reason);
  if (c.turn_was({TurnOutcome::kEmpty})) return "its last turn said nothing";
  if (!c.turn_was({TurnOutcome::kOk}))
    return fmt::format("its last turn ended early: {}", replace_all(to_string(c.progress.turn_outcome), "_", " "));
  if (!c.progress.response) return "its last turn gave no <response>";
  return fmt::format("its last answer was \"{}\"", *c.progress.response);
}

std::string stories_phrase(const Situation& c) {
  const Progress::Plan& plan = c.progress.plan;
  return fmt::format("{} of {} done{}; open: {}", plan.done, count_of(static_cast<unsigned>(plan.stories), "story"),
                     cap_phrase(c), some_of(plan.open));
}

std::string lost_repository(const Situation& c) {
  for (const std::string& path : c.progress.watch.held) {
    if (is_git_entry(path)) return path;
  }
  return "";
}

std::string what_is_held(const Progress& progress) {
  for (const std::string& path : progress.watch.held) {
    if (is_head(path)) return fmt::format("{} leads to no commit", path);
  }
  if (const auto& held = progress.watch.held; !held.empty())
    return fmt::format("{} must not be changed",
                       held.size() == 1 ? held.front() : count_of(held.size(), "protected file"));
  if (!progress.tests_lost.empty()) {
    const std::string more =
        progress.tests_lost.size() == 1 ? "" : fmt::format(" (and {} more like this)", progress.tests_lost.size() - 1);
    return progress.tests_lost.front() + more;
  }
  return fmt::format("{} failed", join_for_people(progress.scm.failed));
}

std::string what_is_missing(const Situation& c) {
  if (!c.progress.guardrails_failed.empty())
    return fmt::format("{} still {}", failed_names(c), c.progress.guardrails_failed.size() == 1 ? "fails" : "fail");
  if (!c.all_holds()) return what_is_held(c.progress);
  if (c.policy.plan) return stories_phrase(c);
  return fmt::format("the agent has not answered \"{}\" ({})", c.policy.completion_response,
                     what_the_agent_answered(c));
}

std::string why_plan_complete(const Situation& c) {
  const int stories = c.progress.plan.stories;
  return fmt::format("{} done{} and {}{}", stories == 1 ? "the story is" : fmt::format("all {} stories are", stories),
                     cap_phrase(c), what_passed(c), c.answered() ? ", as the agent promised" : "");
}

std::string why_complete(const Situation& c) {
  const std::string guardrails = what_passed(c);
  return fmt::format("the agent answered \"{}\" and {}", trim(*c.progress.response), guardrails);
}

std::string budget_phrase(const Situation& c) {
  if (c.tokens_spent()) return fmt::format("{} tokens used of {} (budget.maxTokens)", c.tokens(), c.policy.max_tokens);
  return fmt::format("{} spent of {} (budget.maxCostUsd)", human_cost(c.cost()), human_cost(c.policy.max_cost_usd));
}

namespace {

std::string why_promise_counts(const Situation& c) {
  if (!c.now.signals.worked) return "the promise was given; whether work was done can't be known here";
  if (!*c.now.signals.worked) {
    return c.policy.on_promise_no_work == PromiseWithoutWork::kWarn
               ? "the promise was given without any work, and accepted with this warning"
               : "the promise was given without any work, which is accepted here";
  }
  if (c.now.signals.tool_calls == 0) return "the promise was given and the tree has changed";
  return fmt::format("the promise was given after {}",
                     count_of(static_cast<unsigned>(c.now.signals.tool_calls), "tool call"));
}

}  // namespace

std::string why_accepted(const Situation& c) {
  if (c.policy.checks == 0) return why_promise_counts(c);
  return fmt::format("{}, and {}", why_promise_counts(c), what_passed(c));
}

std::string why_children_end(const Situation& c) {
  return fmt::format("DONE exists; {} did not end within {} and {} ended", count_of(c.children(), "child run"),
                     human_duration(c.policy.child_wait), c.children() == 1 ? "was" : "were");
}

std::string why_waiting(const Situation& c) {
  if (!c.now.task->waits.empty()) return c.now.task->waits;
  return fmt::format("the agent waits for a person (exit code {})", kWaitExitCode);
}

std::string why_restarts_spent(const Situation& c) {
  const std::string attempts = count_of(static_cast<unsigned>(c.progress.iteration), "attempt");
  if (c.now.task->unproved) return fmt::format("{} made, and DONE was removed: {}", attempts, what_failed(c));
  return fmt::format("{} made, and DONE is missing; {}", attempts, how_the_attempt_ended(c));
}

std::string why_restarted(const Situation& c) {
  constexpr Milliseconds kShown{50};  // shorter delays would be shown as "0.0s"
  return fmt::format("no DONE; attempt {} of {} begins {}; {}", c.progress.iteration + 1, c.policy.max_iterations,
                     c.restart_due() < kShown ? "now" : "in " + human_duration(c.restart_due()),
                     how_the_attempt_ended(c));
}

}  // namespace ralph
