// The enums of records and their spelling in a journal. Code compares the enums; the words are for files and people,
// and are defined only here.
#pragma once

#include "base/words.h"

namespace ralph {

// How a run was started.
enum class WayIn { kUnknown, kPrompt, kPlan, kOutside, kSession, kTask, kJob };
template <>
inline constexpr auto kWords<WayIn> = words({"", "run", "plan", "loop", "session", "task", "job"});

// What an agent is started for.
enum class Purpose { kWork, kCommitMessage };
template <>
inline constexpr auto kWords<Purpose> = words({"work", "commit message"});

// The kinds of a run's processes.
enum class StepKind { kNone, kAgent, kGuardrail, kScm };
template <>
inline constexpr auto kWords<StepKind> = words({"", "agent", "guardrail", "scm"});

// How an agent's turn ended.
enum class TurnOutcome {
  kNone,  // not ended yet
  kOk,
  kCrashed,
  kEmpty,  // no words and no tool calls
  kFailed,
  kNotStarted,  // for a possibly temporary reason
  // Ended by ralph.
  kTimedOut,
  kIdle,
  kOverBudget,
  kInterrupted,
  kFileAppeared,  // one of Way::files()
  // Failures reported by the agent (docs/formats/events.md).
  kUsageLimit,
  kOverloaded,
  kAuthentication,
  kBilling,
  kContextExhausted,
  kPermissionDenied,
  kMaxTurns,
  kMaxBudget,
  kModelNotFound,
  kRefused,
};
template <>
inline constexpr auto kWords<TurnOutcome> = words({"",
                                                   "ok",
                                                   "crashed",
                                                   "empty",
                                                   "failed",
                                                   "not_started",
                                                   "timed_out",
                                                   "idle",
                                                   "over_budget",
                                                   "interrupted",
                                                   "file_appeared",
                                                   "usage_limit",
                                                   "overloaded",
                                                   "authentication",
                                                   "billing",
                                                   "context_exhausted",
                                                   "permission_denied",
                                                   "max_turns",
                                                   "max_budget",
                                                   "model_not_found",
                                                   "refused"});

// Why ralph ended a step early.
enum class EndCause { kNone, kTimedOut, kIdle, kLingered, kOverBudget, kInterrupted, kFileAppeared };
template <>
inline constexpr auto kWords<EndCause> =
    words({"", "timed_out", "idle", "lingered", "over_budget", "interrupted", "file_appeared"});

// How a guardrail or a verify command ended.
enum class CheckOutcome { kNone, kPassed, kFailed, kTimedOut, kOverBudget, kInterrupted };
template <>
inline constexpr auto kWords<CheckOutcome> = words({"", "passed", "failed", "timed_out", "over_budget", "interrupted"});

enum class ScmOutcome { kNone, kDone, kNothingToCommit, kFailed };
template <>
inline constexpr auto kWords<ScmOutcome> = words({"", "done", "nothing_to_commit", "failed"});

// How ralph handled a watched file that was changed or deleted.
enum class WatchAction { kReported, kPutBack, kFailed };
template <>
inline constexpr auto kWords<WatchAction> = words({"reported", "put_back", "failed"});

// The mode of a plan's iteration.
enum class Mode { kImplement, kReview, kReviewFix };
template <>
inline constexpr auto kWords<Mode> = words({"implement", "review", "review-fix"});

// The result of a plan's iteration for its story.
enum class StoryStep {
  kNone,
  kSubmitted,
  kResubmitted,
  kApproved,
  kAutoApproved,
  kChangesRequested,
  kSentBack,
  kPassed,  // reviews are switched off
};
template <>
inline constexpr auto kWords<StoryStep> =
    words({"", "submitted", "resubmitted", "approved", "auto_approved", "changes_requested", "sent_back", "passed"});

// When a decision is requested.
enum class Moment {
  kBeforeIteration,  // nothing is running; may another iteration begin?
  kDuringTurn,       // the agent is running; may it continue?
  kDuringCheck,      // a guardrail or an SCM command is running; may it continue?
  kAfterTurn,        // the agent has ended; what follows from its turn?
  kBetweenSteps,     // a step has ended; may the next begin?
  kAtStop,           // a session wants to end; may it?
  kAfterChecks,      // guardrails (and SCM tasks) have run; is the work done?
  kDuringLook,       // ralph itself is querying git; may it wait for the answer?
};
template <>
inline constexpr auto kWords<Moment> = words({"before_iteration", "during_turn", "during_check", "after_turn",
                                              "between_steps", "at_stop", "after_checks", "during_look"});

// The action of a decision.
enum class Action {
  kContinue,    // with the next step, or with the feedback in Progress
  kStop,        // with a status and a reason
  kWait,        // for a delay, then ask again
  kRetry,       // run the agent again in the same iteration, after a pause
  kEndNow,      // end the running process
  kCheckAgain,  // run the guardrails again: their results are outdated
  kRunChecks,   // run the checks of a session's loop, then ask again
  kHold,        // the session continues, and this does not count as an iteration
};
template <>
inline constexpr auto kWords<Action> =
    words({"continue", "stop", "wait", "retry", "end_now", "check_again", "run_checks", "hold"});

// How a run ended.
enum class StopStatus { kNone, kComplete, kLimit, kFatal, kWaiting, kInterrupted, kCancelled, kStagnant };
template <>
inline constexpr auto kWords<StopStatus> =
    words({"", "complete", "limit", "fatal", "waiting", "interrupted", "cancelled", "stagnant"});

}  // namespace ralph
