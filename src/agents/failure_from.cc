#include "agents/failure_from.h"

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace ralph {
namespace {

constexpr size_t kNowhere = std::string_view::npos;

constexpr ErrorType kTypes[] = {
    // Anthropic's API, and the agent built on it
    {"authentication_error authentication_failed oauth_org_not_allowed permission_error", FailureKind::kAuthentication},
    {"billing_error", FailureKind::kBilling},
    {"usage_limit_reached", FailureKind::kUsageLimit},
    {"rate_limit_error rate_limit overloaded_error overloaded api_error server_error timeout_error",
     FailureKind::kOverloaded},
    {"model_not_found not_found_error", FailureKind::kModelNotFound},
    {"request_too_large", FailureKind::kContextExhausted},
    // OpenAI's
    {"invalid_api_key", FailureKind::kAuthentication},
    {"insufficient_quota", FailureKind::kBilling},
    {"rate_limit_exceeded", FailureKind::kOverloaded},
    {"context_length_exceeded", FailureKind::kContextExhausted},
    // Google's
    {"UNAUTHENTICATED PERMISSION_DENIED", FailureKind::kAuthentication},
    {"RESOURCE_EXHAUSTED UNAVAILABLE DEADLINE_EXCEEDED", FailureKind::kOverloaded},
    {"NOT_FOUND", FailureKind::kModelNotFound},
};

// Phrases of the agents' programs, in lower case. The first match wins.
struct Phrase {
  std::string_view words;
  FailureKind kind;
};
constexpr Phrase kPhrases[] = {
    {"hit your usage limit", FailureKind::kUsageLimit},
    {"usage limit reached", FailureKind::kUsageLimit},
    {"daily quota", FailureKind::kUsageLimit},
    {"prompt is too long", FailureKind::kContextExhausted},
    {"context window", FailureKind::kContextExhausted},
    {"maximum context length", FailureKind::kContextExhausted},
    {"credit balance is too low", FailureKind::kBilling},
    {"quota exceeded. check your plan", FailureKind::kBilling},
    {"maximum session turns", FailureKind::kMaxTurns},
    {"not logged in", FailureKind::kAuthentication},
    {"api key not valid", FailureKind::kAuthentication},
    {"high demand", FailureKind::kOverloaded},
    {"at capacity", FailureKind::kOverloaded},
    {"stream disconnected", FailureKind::kOverloaded},
    {"error sending request", FailureKind::kOverloaded},
};

FailureKind from_phrases(std::string_view lower) {
  for (const Phrase& phrase : kPhrases) {
    if (contains(lower, phrase.words)) return phrase.kind;
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

// The JSON object in "[API Error: {…}]"; null if there is none.
json::value embedded_json(std::string_view message) {
  const size_t begin = message.find('{');
  const size_t end = message.rfind('}');
  if (begin == kNowhere || end == kNowhere || end < begin) return nullptr;
  auto body = parse_json(message.substr(begin, end - begin + 1), "");
  return body ? *std::move(body) : nullptr;
}

std::optional<std::string_view> api_message(const json::value& body) {
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
  if (status == 401 || status == 403) return FailureKind::kAuthentication;
  if (status == 402) return FailureKind::kBilling;
  if (status == 404) return FailureKind::kModelNotFound;
  if (status == 413) return FailureKind::kContextExhausted;
  if (status == 408 || status == 429 || (status >= 500 && status < 600)) return FailureKind::kOverloaded;
  return status >= 400 && status < 500 ? FailureKind::kOther : FailureKind::kNone;
}

FailureKind failure_from_type(std::string_view type, std::span<const ErrorType> own) {
  for (const std::span<const ErrorType> table : {own, std::span<const ErrorType>(kTypes)}) {
    for (const ErrorType& known : table) {
      if (is_listed(known.names, type)) return known.kind;
    }
  }
  return FailureKind::kNone;
}

ReportedFailure failure_from_message(std::string_view message, WallTime now) {
  message = message.substr(0, 64 << 10);
  const json::value body = embedded_json(message);
  const std::string lower = to_lower(message);
  ReportedFailure reported;
  reported.kind = from_phrases(lower);
  if (reported.kind == FailureKind::kNone) reported.kind = from_api_error(body);
  if (reported.kind == FailureKind::kNone) reported.kind = from_status_words(lower);
  if (reported.kind == FailureKind::kNone) reported.kind = FailureKind::kOther;
  if (reported.kind == FailureKind::kUsageLimit) reported.resets_at = reset_time_in(message, now);
  reported.message = api_message(body).value_or(message);
  return reported;
}

}  // namespace ralph
