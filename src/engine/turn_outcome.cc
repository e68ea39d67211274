#include "engine/turn_outcome.h"

#include "agents/registry.h"
#include "base/text.h"
#include "base/utf8.h"

namespace ralph {
namespace {

// What the user must do about a failure that ends the run.
std::string_view advice_for(FailureKind kind) {
  switch (kind) {
    case FailureKind::kAuthentication:
      return "log in, or correct its key";
    case FailureKind::kBilling:
      return "add credit to its account";
    case FailureKind::kModelNotFound:
      return "correct agent.model or the model in agent.flags";
    case FailureKind::kPermissionDenied:
      return "see 'ralph init' for permission flags";
    default:
      return "";
  }
}

TurnOutcome turn_outcome_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUsageLimit:
      return TurnOutcome::kUsageLimit;
    case FailureKind::kOverloaded:
      return TurnOutcome::kOverloaded;
    case FailureKind::kAuthentication:
      return TurnOutcome::kAuthentication;
    case FailureKind::kBilling:
      return TurnOutcome::kBilling;
    case FailureKind::kContextExhausted:
      return TurnOutcome::kContextExhausted;
    case FailureKind::kPermissionDenied:
      return TurnOutcome::kPermissionDenied;
    case FailureKind::kMaxTurns:
      return TurnOutcome::kMaxTurns;
    case FailureKind::kMaxBudget:
      return TurnOutcome::kMaxBudget;
    case FailureKind::kModelNotFound:
      return TurnOutcome::kModelNotFound;
    case FailureKind::kRefused:
      return TurnOutcome::kRefused;
    case FailureKind::kAborted:
      return TurnOutcome::kCrashed;
    case FailureKind::kNone:
    case FailureKind::kOther:
      break;
  }
  return TurnOutcome::kFailed;
}

// The outcome if ralph ended the step; nullopt if it exited by itself, or gave a valid result before it was ended.
std::optional<TurnOutcome> turn_outcome_of(EndCause cause) {
  switch (cause) {
    case EndCause::kTimedOut:
      return TurnOutcome::kTimedOut;
    case EndCause::kIdle:
      return TurnOutcome::kIdle;
    case EndCause::kOverBudget:
      return TurnOutcome::kOverBudget;
    case EndCause::kInterrupted:
      return TurnOutcome::kInterrupted;
    case EndCause::kFileAppeared:
      return TurnOutcome::kFileAppeared;
    case EndCause::kNone:
    case EndCause::kLingered:
      break;
  }
  return std::nullopt;
}

std::string sentence(std::string_view agent, FailureKind kind, std::string_view message) {
  const std::string name = replace_all(to_string(kind), "_", " ");
  std::string text = fmt::format("{}: {}", agent, name);
  if (!message.empty()) text += fmt::format(": {}", fit_to_width(message, 300));
  if (const std::string_view advice = advice_for(kind); !advice.empty()) text += fmt::format("; {}", advice);
  return text;
}

std::string exit_phrase(const ExitStatus& status, std::string_view error_tail) {
  std::string phrase = status.signal != 0 ? fmt::format("ended by {}", signal_name(status.signal))
                                          : fmt::format("exit code {}", status.code);
  const std::string text = to_valid_utf8(trim(error_tail));
  const size_t line = text.rfind('\n');
  const std::string_view last =
      trim(line == std::string::npos ? std::string_view(text) : std::string_view(text).substr(line));
  if (!last.empty()) phrase += fmt::format(": {}", fit_to_width(last, 200));
  return phrase;
}

}  // namespace

TurnJudgement judge_turn(const TurnFacts& facts) {
  const TurnReader& reader = facts.reader;
  const StepEnd& end = facts.end;
  if (const auto ended = turn_outcome_of(end.cause)) return {*ended, end.reason};
  const bool lingered = end.cause == EndCause::kLingered;
  if (reader.failure()) {
    FailureKind kind = *reader.failure();
    if (kind == FailureKind::kOther) {  // the events do not say; the exit code may
      const StartFailure exit = facts.adapter.start_failure(end.status.code, facts.error_tail);
      if (exit.kind != FailureKind::kNone) kind = exit.kind;
    }
    return {turn_outcome_of(kind), sentence(facts.agent, kind, reader.failure_message())};
  }
  if (!lingered && !end.status.success()) {
    const StartFailure start = facts.adapter.start_failure(end.status.code, facts.error_tail);
    if (start.kind != FailureKind::kNone && !reader.has_result()) return {turn_outcome_of(start.kind), start.advice};
    return {TurnOutcome::kCrashed, exit_phrase(end.status, facts.error_tail)};
  }
  if (reader.result_failed())
    return {TurnOutcome::kFailed, fmt::format("{} reported a failure without saying which", facts.agent)};
  if (facts.expects_result && reader.saw_events() && !reader.has_result()) {
    return {TurnOutcome::kCrashed, "its stream ended without a result"};
  }
  if (!reader.did_anything()) return {TurnOutcome::kEmpty, "it said nothing"};
  // Every further turn would end like this one.
  if (facts.works && reader.could_only_read()) {
    return {
        TurnOutcome::kPermissionDenied,
        fmt::format("{} was refused every tool that needs a permission, and in a run nobody can give it one; add to "
                    "agent.flags: {}",
                    facts.agent, permission_choices(facts.adapter))};
  }
  return {TurnOutcome::kOk, ""};
}

}  // namespace ralph
