#include "agents/events.h"

namespace ralph {

std::string_view to_string(FailureKind kind) {
  switch (kind) {
    case FailureKind::kNone:
      return "none";
    case FailureKind::kUsageLimit:
      return "usage_limit";
    case FailureKind::kOverloaded:
      return "overloaded";
    case FailureKind::kAuthentication:
      return "authentication";
    case FailureKind::kBilling:
      return "billing";
    case FailureKind::kContextExhausted:
      return "context_exhausted";
    case FailureKind::kPermissionDenied:
      return "permission_denied";
    case FailureKind::kMaxTurns:
      return "max_turns";
    case FailureKind::kMaxBudget:
      return "max_budget";
    case FailureKind::kModelNotFound:
      return "model_not_found";
    case FailureKind::kAborted:
      return "aborted";
    case FailureKind::kOther:
      break;
  }
  return "other";
}

Tokens& Tokens::operator+=(const Tokens& other) {
  input += other.input;
  output += other.output;
  cache_read += other.cache_read;
  cache_write += other.cache_write;
  return *this;
}

Tokens Tokens::operator-(const Tokens& other) const {
  return {input - other.input, output - other.output, cache_read - other.cache_read, cache_write - other.cache_write};
}

}  // namespace ralph
