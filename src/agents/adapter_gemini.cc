// Gemini CLI: prompt on standard input.
#include <fmt/format.h>

#include "agents/adapter.h"
#include "agents/failure_from.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr int kUntrustedFolder = 55;
constexpr int kUnknownSession = 42;

TurnArguments arguments(const TurnWishes& wishes, const HasFlag&) {
  TurnArguments result;
  if (!wishes.user_says({"-y", "--yolo", "--approval-mode"})) result.before.emplace_back("--yolo");
  if (wishes.events) result.before.insert(result.before.end(), {"--output-format", "stream-json"});
  if (!wishes.model.empty()) result.before.insert(result.before.end(), {"--model", wishes.model});
  if (!wishes.resume.empty()) result.before.insert(result.before.end(), {"--resume", wishes.resume});
  return result;
}

// A folder that was never opened interactively is not trusted, and even --yolo ends with exit code 55 there. Older
// versions know neither the question nor this variable.
void prepare(Environment& environment) {
  environment.set("GEMINI_CLI_TRUST_WORKSPACE", "true");
}

StartFailure start_failure(int exit_code, std::string_view) {
  if (exit_code == kUntrustedFolder) {
    return {FailureKind::kPermissionDenied,
            "gemini does not trust this folder; start it here once and trust it, or add --skip-trust to agent.flags"};
  }
  if (exit_code == kUnknownSession) return {FailureKind::kOther, "gemini does not know the session to resume"};
  // After an error of the API it is the HTTP status, cut to a byte, where the message often has none.
  for (const int status : {401, 403, 404, 408, 429, 500, 502, 503, 504, 529}) {
    if (exit_code != status % 256) continue;
    const FailureKind kind = failure_from_status(status);
    return {kind, fmt::format("gemini: {}: HTTP status {}", replace_all(to_string(kind), "_", " "), status)};
  }
  // Before any event, its exit code is all that tells a missing login (41) from other trouble.
  if (exit_code == 41)
    return {FailureKind::kAuthentication, "gemini has no login; set GEMINI_API_KEY, or start gemini once and log in"};
  return {};
}

}  // namespace

const Adapter kGemini = {"gemini", "gemini",      PromptPath::kStdin,    false, true, true, arguments,
                         prepare,  start_failure, "--prompt-interactive"};

}  // namespace ralph
