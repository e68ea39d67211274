// Kinds of failures, from the fields in which agents report them. Never for text that a model wrote: the words "rate
// limit" in an answer are no limit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agents/events.h"

namespace ralph {

// An HTTP status; kNone for 0 and for those that are no errors.
FailureKind failure_from_status(long long status);

// The type, code or name of an error, as APIs and agents spell them: "rate_limit_error", "invalid_api_key",
// "UNAUTHENTICATED", "ContextOverflowError". kNone if it is none of them.
FailureKind failure_from_type(std::string_view type);

// Some errors are told in a sentence only, in a field that holds nothing else (turn.failed of Codex, result.error of
// Gemini): with JSON of the API in it, or an HTTP status, or words of the agent's program.
struct ToldFailure {
  FailureKind kind = FailureKind::kOther;
  std::optional<WallTime> resets_at;
  std::string message;  // for people: what the API said, if its JSON is in there; else all of it
};
ToldFailure failure_from_message(std::string_view message, WallTime now);

// When a limit ends, as told in such a sentence: "try again at Nov 16th, 2026 3:33 AM", "try again at 3:33 AM" (times
// of this machine's zone), "try again in 2 hours 5 minutes", "reached|1794800000".
std::optional<WallTime> reset_time_in(std::string_view message, WallTime now);

// Unix seconds, as APIs tell the end of a limit; nothing for what is no such time.
std::optional<WallTime> time_from_unix(long long seconds);

}  // namespace ralph
