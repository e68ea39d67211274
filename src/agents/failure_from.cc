#include "agents/failure_from.h"

#include <algorithm>
#include <array>
#include <string>

#include "json/value.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

struct Name {
  std::string_view name;
  FailureKind kind;
};

constexpr std::array kTypes = {
    // Anthropic's API, and Claude Code's own words for it
    Name{"authentication_error", FailureKind::kAuthentication},
    Name{"authentication_failed", FailureKind::kAuthentication},
    Name{"oauth_org_not_allowed", FailureKind::kAuthentication},
    Name{"permission_error", FailureKind::kAuthentication},
    Name{"billing_error", FailureKind::kBilling},
    Name{"usage_limit_reached", FailureKind::kUsageLimit},
    Name{"rate_limit_error", FailureKind::kOverloaded},
    Name{"rate_limit", FailureKind::kOverloaded},
    Name{"overloaded_error", FailureKind::kOverloaded},
    Name{"overloaded", FailureKind::kOverloaded},
    Name{"api_error", FailureKind::kOverloaded},
    Name{"server_error", FailureKind::kOverloaded},
    Name{"timeout_error", FailureKind::kOverloaded},
    Name{"model_not_found", FailureKind::kModelNotFound},
    Name{"not_found_error", FailureKind::kModelNotFound},
    Name{"request_too_large", FailureKind::kContextExhausted},
    // OpenAI's
    Name{"invalid_api_key", FailureKind::kAuthentication},
    Name{"insufficient_quota", FailureKind::kBilling},
    Name{"rate_limit_exceeded", FailureKind::kOverloaded},
    Name{"context_length_exceeded", FailureKind::kContextExhausted},
    // Google's
    Name{"UNAUTHENTICATED", FailureKind::kAuthentication},
    Name{"PERMISSION_DENIED", FailureKind::kAuthentication},
    Name{"RESOURCE_EXHAUSTED", FailureKind::kOverloaded},
    Name{"UNAVAILABLE", FailureKind::kOverloaded},
    Name{"DEADLINE_EXCEEDED", FailureKind::kOverloaded},
    Name{"NOT_FOUND", FailureKind::kModelNotFound},
    // of Gemini CLI
    Name{"FatalAuthenticationError", FailureKind::kAuthentication},
    Name{"FatalTurnLimitedError", FailureKind::kMaxTurns},
    Name{"FatalUntrustedWorkspaceError", FailureKind::kPermissionDenied},
    Name{"FatalCancellationError", FailureKind::kAborted},
    // of opencode
    Name{"ProviderAuthError", FailureKind::kAuthentication},
    Name{"ContextOverflowError", FailureKind::kContextExhausted},
    Name{"MessageAbortedError", FailureKind::kAborted},
};

// What the programs say themselves, in lower case. The first that is found counts.
constexpr std::array kPhrases = {
    Name{"hit your usage limit", FailureKind::kUsageLimit},
    Name{"usage limit reached", FailureKind::kUsageLimit},
    Name{"daily quota", FailureKind::kUsageLimit},
    Name{"prompt is too long", FailureKind::kContextExhausted},
    Name{"context window", FailureKind::kContextExhausted},
    Name{"maximum context length", FailureKind::kContextExhausted},
    Name{"credit balance is too low", FailureKind::kBilling},
    Name{"quota exceeded. check your plan", FailureKind::kBilling},
    Name{"maximum session turns", FailureKind::kMaxTurns},
    Name{"not logged in", FailureKind::kAuthentication},
    Name{"api key not valid", FailureKind::kAuthentication},
    Name{"high demand", FailureKind::kOverloaded},
    Name{"at capacity", FailureKind::kOverloaded},
    Name{"stream disconnected", FailureKind::kOverloaded},
    Name{"error sending request", FailureKind::kOverloaded},
};

FailureKind from_phrases(std::string_view lower) {
  for (const Name& phrase : kPhrases) {
    if (lower.find(phrase.name) != kNowhere) return phrase.kind;
  }
  return FailureKind::kNone;
}

// {"error":{"code":401,"message":"…","status":"…","type":"…"}}
FailureKind from_api_error(const json::value& body) {
  const json::value* inner = find(body, "error");
  const json::value& error = inner ? *inner : body;
  for (const std::string_view key : {"code", "status", "type"}) {
    if (const auto name = find_string(error, key)) {
      if (const FailureKind kind = failure_from_type(*name); kind != FailureKind::kNone) return kind;
    }
    if (const FailureKind kind = failure_from_status(find_integer(error, key).value_or(0)); kind != FailureKind::kNone)
      return kind;
  }
  return FailureKind::kNone;
}

// The object in "[API Error: {…}]", or all of it; null if there is none.
json::value embedded_json(std::string_view message) {
  const size_t begin = message.find('{');
  const size_t end = message.rfind('}');
  if (begin == kNowhere || end == kNowhere || end < begin) return nullptr;
  auto body = parse_json(message.substr(begin, end - begin + 1), "");
  return body ? *std::move(body) : nullptr;
}

std::optional<std::string_view> message_of_api(const json::value& body) {
  const json::value* inner = find(body, "error");
  return find_string(inner ? *inner : body, "message");
}

// "unexpected status 401 Unauthorized", "last status: 429 Too Many Requests"
FailureKind from_status_words(std::string_view lower) {
  for (size_t at = lower.find("status"); at != kNowhere; at = lower.find("status", at + 1)) {
    const size_t digits = lower.find_first_not_of(": ", at + 6);
    if (digits == kNowhere) break;
    const size_t end = std::min(lower.find_first_not_of("0123456789", digits), lower.size());
    if (end - digits != 3) continue;
    const FailureKind kind = failure_from_status(parse_count(lower.substr(digits, 3)).value_or(0));
    if (kind != FailureKind::kNone) return kind;
  }
  return FailureKind::kNone;
}

}  // namespace

FailureKind failure_from_status(long long status) {
  switch (status) {
    case 401:
    case 403:
      return FailureKind::kAuthentication;
    case 402:
      return FailureKind::kBilling;
    case 404:
      return FailureKind::kModelNotFound;
    case 408:
    case 429:
      return FailureKind::kOverloaded;
    case 413:
      return FailureKind::kContextExhausted;
    default:
      return status >= 500 && status < 600   ? FailureKind::kOverloaded
             : status >= 400 && status < 500 ? FailureKind::kOther
                                             : FailureKind::kNone;
  }
}

FailureKind failure_from_type(std::string_view type) {
  for (const Name& known : kTypes) {
    if (known.name == type) return known.kind;
  }
  return FailureKind::kNone;
}

ToldFailure failure_from_message(std::string_view message, WallTime now) {
  message = message.substr(0, 64 << 10);
  const json::value body = embedded_json(message);
  const std::string lower = to_lower(message);
  ToldFailure told;
  told.kind = from_phrases(lower);
  if (told.kind == FailureKind::kNone) told.kind = from_api_error(body);
  if (told.kind == FailureKind::kNone) told.kind = from_status_words(lower);
  if (told.kind == FailureKind::kNone) told.kind = FailureKind::kOther;
  if (told.kind == FailureKind::kUsageLimit) told.resets_at = reset_time_in(message, now);
  told.message = message_of_api(body).value_or(message);
  return told;
}

}  // namespace ralph
