#include "agents/claude_system.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agents/claude_reader.h"
#include "agents/failure_from.h"
#include "base/text.h"

namespace ralph {
namespace {

constexpr std::array<std::string_view, 11> kIgnored = {
    "thinking_tokens",           // counters while it thinks; the result has the sum
    "hook_started",              // its end is told
    "hook_progress",             //
    "task_updated",              // told again by task_notification
    "background_tasks_changed",  // told again by task_started and task_notification
    "ui_invalidate",             // for screens
    "session_state_changed",     // for screens
    "files_persisted",           //
    "local_command_output",      // of slash commands
    "elicitation_complete",      //
    "post_turn_summary",         //
};

FailureKind kind_of_error(JsonView line) {
  for (const std::string_view key : {"api_error", "error", "api_error_type"}) {
    const FailureKind kind = failure_from_type(line[key].text());
    if (kind != FailureKind::kNone) return kind;
  }
  return failure_from_status(line["api_error_status"].integer());
}

void on_hook(JsonView line, std::string& scratch, EventSink& sink) {
  scratch = line["hook_name"].text();
  if (line["outcome"].text() != "success") {
    scratch += fmt::format(": {}", line["outcome"].text());
    if (line["exit_code"]) scratch += fmt::format(", exit code {}", line["exit_code"].integer());
    if (const std::string_view why = first_line(line["stderr"].text()); !why.empty())
      scratch += fmt::format(": {}", why);
  }
  sink.on_event(event::Progress{"hook", scratch});
}

void on_retry(JsonView line, EventSink& sink) {
  const auto small = [&](std::string_view key) {
    return static_cast<int>(std::clamp<std::int64_t>(line[key].integer(), 0, 1 << 30));
  };
  FailureKind kind = failure_from_type(line["error"].text());
  if (kind == FailureKind::kNone) kind = failure_from_status(line["error_status"].integer());
  if (kind == FailureKind::kNone) kind = FailureKind::kOverloaded;  // no status: the connection was lost
  sink.on_event(event::Retry{small("attempt"), small("max_retries"), Milliseconds(line["retry_delay_ms"].integer()),
                             kind, line["error"].text()});
}

std::string_view kind_of_task(JsonView line) {
  return line["task_type"].text() == "local_agent" ? "sub-agent" : "background task";
}

}  // namespace

void claude_system_event(JsonView line, std::string& scratch, EventSink& sink) {
  const std::string_view subtype = line["subtype"].text();
  // The seed's oldest form has no subtype.
  if (subtype == "init" || (subtype.empty() && line["session_id"])) {
    sink.on_event(event::Session{line["session_id"].text(), line["model"].text(), line["claude_code_version"].text()});
  } else if (subtype == "api_retry") {
    on_retry(line, sink);
  } else if (subtype == "status") {
    if (line["status"].text() == "compacting") sink.on_event(event::Progress{"compacting", {}});
  } else if (subtype == "compact_boundary") {
    const JsonView sizes = line["compact_metadata"];
    scratch = fmt::format("from {} to {} tokens", sizes["pre_tokens"].integer(), sizes["post_tokens"].integer());
    sink.on_event(event::Progress{"compacted", scratch});
  } else if (subtype == "hook_response") {
    on_hook(line, scratch, sink);
  } else if (subtype == "task_started") {
    if (line["is_backgrounded"].truth() || line["task_type"].text() == "local_agent") {
      sink.on_event(event::Progress{kind_of_task(line), line["description"].text()});
    }
  } else if (subtype == "task_progress") {
    sink.on_event(event::Progress{"sub-agent", line["description"].text()});
  } else if (subtype == "task_notification") {
    sink.on_event(event::Progress{"task ended", line["summary"].text()});
  } else if (subtype == "permission_denied") {
    sink.on_event(event::Progress{"permission denied", line["tool_name"].text()});
  } else if (subtype == "informational") {
    sink.on_event(event::Progress{"notice", line["content"].text()});
  } else if (subtype == "notification") {
    sink.on_event(event::Progress{"notice", line["text"].text()});
  } else if (std::find(kIgnored.begin(), kIgnored.end(), subtype) == kIgnored.end()) {
    scratch = fmt::format("system/{}", subtype.substr(0, 256));
    sink.on_event(event::Unknown{scratch, "unknown type"});
  }
}

event::Failure api_failure(JsonView line, std::string_view message, WallTime now) {
  FailureKind kind = kind_of_error(line);
  std::optional<WallTime> resets_at = time_from_unix(line["api_error_params"]["rate_limit_info"]["resetsAt"].integer());
  // Some are told apart by the sentence only: a prompt that is too long is an "invalid_request" as any other, and older
  // versions tell a plan's limit as any other limit.
  const bool vague = kind == FailureKind::kNone || kind == FailureKind::kOther;
  if (vague || (kind == FailureKind::kOverloaded && message.find("usage limit") != std::string_view::npos)) {
    const ToldFailure told = failure_from_message(message, now);
    kind = told.kind;
    if (!resets_at) resets_at = told.resets_at;
  }
  return {kind, message, kind == FailureKind::kUsageLimit ? resets_at : std::nullopt};
}

std::optional<event::Failure> result_failure(JsonView line, bool told, WallTime now, std::string& scratch) {
  const std::string_view reason = line["terminal_reason"].text();
  const std::string_view subtype = line["subtype"].text();
  FailureKind kind = FailureKind::kNone;
  if (reason == "max_turns" || subtype == "error_max_turns") kind = FailureKind::kMaxTurns;
  if (reason == "budget_exhausted" || subtype == "error_max_budget_usd") kind = FailureKind::kMaxBudget;
  // What an interrupted one says is for its makers: "[ede_diagnostic] result_type=user".
  if (reason.starts_with("aborted")) return event::Failure{FailureKind::kAborted, "interrupted", std::nullopt};
  if (told && kind == FailureKind::kNone) return std::nullopt;

  std::string_view message = text_of_content(line["errors"], scratch);
  if (message.empty()) message = line["result"].text();
  if (message.empty()) message = line["error"].text();
  if (kind == FailureKind::kNone) return api_failure(line, message, now);
  return event::Failure{kind, message, std::nullopt};
}

}  // namespace ralph
