// Determines the kind of a failure from the fields in which agents report errors. Never use it on text that a model
// wrote: an answer that mentions a "rate limit" has not hit one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "agents/events.h"

namespace ralph {

// From an HTTP status; kNone for 0 and for statuses that are not errors.
FailureKind failure_from_status(long long status);

struct ErrorType {
  std::string_view names;  // separated by blanks
  FailureKind kind;
};

// From the type, code or name of an error, as APIs spell them: "rate_limit_error", "invalid_api_key",
// "UNAUTHENTICATED". `own` lists names that only one agent uses. kNone if the name is unknown.
FailureKind failure_from_type(std::string_view type, std::span<const ErrorType> own = {});

// From a dedicated error field. The message may contain the API's JSON, an HTTP status, or a phrase of the agent's
// program.
struct ReportedFailure {
  FailureKind kind = FailureKind::kOther;
  std::optional<WallTime> resets_at;
  std::string message;  // the API's message, if its JSON is included; otherwise the whole message
};
ReportedFailure failure_from_message(std::string_view message, WallTime now);

// The end of a limit in such a message: "try again at Nov 16th, 2026 3:33 AM" or "try again at 3:33 AM" (local time),
// "try again in 2 hours 5 minutes", "reached|1794800000".
std::optional<WallTime> reset_time_in(std::string_view message, WallTime now);

// From Unix seconds; nullopt if the number is not a plausible time.
std::optional<WallTime> time_from_unix(long long seconds);

}  // namespace ralph
