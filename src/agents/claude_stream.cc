#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "agents/claude.h"
#include "agents/claude_usage.h"
#include "agents/failure_from.h"
#include "agents/open_tools.h"
#include "agents/todo_items.h"
#include "agents/tool_summary.h"
#include "base/text.h"

namespace ralph {
namespace {

// Lines that repeat others or don't concern the work: display updates, logins, the control protocol.
constexpr std::array<std::string_view, 8> kIgnored = {
    "tool_progress", "tool_use_summary", "prompt_suggestion", "auth_status",
    "keep_alive",    "control_request",  "control_response",  "control_cancel_request"};

constexpr std::array<std::string_view, 4> kIgnoredBlocks = {"redacted_thinking", "image", "document", "fallback"};

bool is_todo_tool(std::string_view name) {
  return name == "TodoWrite" || name == "todo_write";
}

bool is_task_tool(std::string_view name) {
  return name == "TaskCreate" || name == "TaskUpdate" || name == "TaskList";
}

const Wanted& wanted_of_task_result() {
  static const Wanted task{{"id"}, {"subject"}, {"status"}};
  static const Wanted change{{"to"}};
  static const Wanted result{{"task", &task}, {"tasks", &task}, {"success"}, {"taskId"}, {"statusChange", &change}};
  return result;
}

bool is_api_error(JsonView line) {
  // Older versions mark it only by the model name.
  return line["is_api_error_message"].truth() ||
         (line["error"].is(JsonKind::kString) && is_written_by_claude_code(line["message"]));
}

// ---- lines of the type "system"

// Subtypes to ignore. The end of a hook or a task repeats all of its progress, and the result repeats the counters.
constexpr std::array<std::string_view, 11> kIgnoredSubtypes = {
    "thinking_tokens",          "hook_started",         "hook_progress",         "task_updated",
    "background_tasks_changed", "ui_invalidate",        "session_state_changed", "files_persisted",
    "local_command_output",     "elicitation_complete", "post_turn_summary"};

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

void on_system(JsonView line, std::string& scratch, EventSink& sink) {
  const std::string_view subtype = line["subtype"].text();
  // The oldest form has no subtype.
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
    sink.on_event(event::Progress{event::Progress::kPermissionDenied, line["tool_name"].text()});
  } else if (subtype == "informational") {
    sink.on_event(event::Progress{"notice", line["content"].text()});
  } else if (subtype == "notification") {
    sink.on_event(event::Progress{"notice", line["text"].text()});
  } else if (!is_one_of(subtype, kIgnoredSubtypes)) {
    scratch = fmt::format("system/{}", subtype.substr(0, 256));
    sink.on_event(event::Unknown{scratch, "unknown type"});
  }
}

// An `assistant` line that is an API error, with `message` as its text.
event::Failure api_failure(JsonView line, std::string_view message, WallTime now) {
  FailureKind kind = kind_of_error(line);
  std::optional<WallTime> resets_at = time_from_unix(line["api_error_params"]["rate_limit_info"]["resetsAt"].integer());
  // Some of them differ only in the message: a prompt that is too long is an "invalid_request" like any other, and
  // older versions report a plan's limit like any other limit.
  const bool vague = kind == FailureKind::kNone || kind == FailureKind::kOther;
  if (vague || (kind == FailureKind::kOverloaded && contains(message, "usage limit"))) {
    const ReportedFailure reported = failure_from_message(message, now);
    kind = reported.kind;
    if (!resets_at) resets_at = reported.resets_at;
  }
  return {kind, message, kind == FailureKind::kUsageLimit ? resets_at : std::nullopt};
}

// A `result` line that failed. nullopt if it only repeats an API error that was already `reported`.
std::optional<event::Failure> result_failure(JsonView line, bool reported, WallTime now, std::string& scratch) {
  const std::string_view reason = line["terminal_reason"].text();
  const std::string_view subtype = line["subtype"].text();
  FailureKind kind = FailureKind::kNone;
  if (reason == "max_turns" || subtype == "error_max_turns") kind = FailureKind::kMaxTurns;
  if (reason == "budget_exhausted" || subtype == "error_max_budget_usd") kind = FailureKind::kMaxBudget;
  // The message of an interrupted turn is for Claude Code's developers: "[ede_diagnostic] result_type=user".
  if (reason.starts_with("aborted")) return event::Failure{FailureKind::kAborted, "interrupted", std::nullopt};
  if (reported && kind == FailureKind::kNone) return std::nullopt;

  std::string_view message = text_of_content(line["errors"], scratch);
  if (message.empty()) message = line["result"].text();
  if (message.empty()) message = line["error"].text();
  if (kind == FailureKind::kNone) return api_failure(line, message, now);
  return event::Failure{kind, message, std::nullopt};
}

bool is_without_permission(std::string_view output) {
  constexpr size_t kBeginning = 4096;
  return output.starts_with("Claude requested permissions to ") &&
         contains(output.substr(0, kBeginning), "but you haven't granted it yet");
}

// ---- the reader

class ClaudeReader final : public LineParser {
 public:
  ClaudeReader(const UsedBefore& before, const Clock& clock) : clock_(clock), usage_(before) {}

  const Wanted& wanted() const override;
  void on_object(JsonView line, EventSink& sink) override;

 private:
  void on_assistant(JsonView line, EventSink& sink);
  void on_api_error(JsonView line, bool sub_agent, EventSink& sink);
  void on_tool_use(JsonView block, bool sub_agent, EventSink& sink);
  void on_user(JsonView line, EventSink& sink);
  void on_tool_result(JsonView block, JsonView line, bool sub_agent, EventSink& sink);
  void on_list_change(const OpenTool& tool, JsonView result, EventSink& sink);
  void on_stream_event(JsonView event, EventSink& sink);
  void on_result(JsonView line, EventSink& sink);

  const Clock& clock_;
  ClaudeUsage usage_;
  JsonTape result_tape_;
  OpenTools tools_;
  TodoList tasks_;
  bool model_spoke_ = false;
  bool has_own_words_ = false;       // from the model, not from a sub-agent
  bool has_others_words_ = false;    // written by Claude Code in the model's name
  bool failure_reported_ = false;    // since the last result
  std::int64_t partial_output_ = 0;  // of the current message, already counted
  std::string scratch_;
  bool reports_denials_ = false;  // a tool call without permission gets its own event
};

const Wanted& ClaudeReader::wanted() const {
  static const Wanted inner{{"type"}, {"text"}};
  static const Wanted block("type text thinking id name tool_use_id is_error",
                            {{"input", &wanted_of_tool_input()}, {"content", &inner}});
  static const Wanted message{
      {"id"}, {"model"}, {"stop_reason"}, {"content", &block}, {"usage", &wanted_of_claude_usage()}};
  static const Wanted limit{{"status"}, {"resetsAt"}, {"rateLimitType"}};
  static const Wanted limits{{"rate_limit_info", &limit}};
  static const Wanted stream_event{{"type"}, {"usage", &wanted_of_claude_usage()}};
  static const Wanted compaction{{"pre_tokens"}, {"post_tokens"}};
  static const Wanted permission{{"decision"}};
  static const Wanted calls{{"id"}, {"permission_decision", &permission}};
  static const Wanted line(
      // assistant, user
      "type subtype parent_tool_use_id isSynthetic "
      // errors
      "error errors is_api_error_message api_error api_error_status api_error_type "
      // system
      "session_id model claude_code_version attempt max_retries retry_delay_ms error_status status hook_name outcome "
      "exit_code stderr description summary task_type is_backgrounded tool_name content text "
      // result
      "result is_error terminal_reason num_turns duration_ms total_cost_usd",
      {{"message", &message},
       {"tool_use_result", &Wanted::later()},
       {"tool_result_meta", &calls},
       {"api_error_params", &limits},
       {"rate_limit_info", &limit},
       {"compact_metadata", &compaction},
       {"event", &stream_event},
       {"usage", &Wanted::later()},
       {"modelUsage", &Wanted::later()},
       {"model_usage_since_last_result", &Wanted::later()}});
  return line;
}

void ClaudeReader::on_object(JsonView line, EventSink& sink) {
  const std::string_view type = line["type"].text();
  if (type == "assistant") {
    on_assistant(line, sink);
  } else if (type == "user") {
    on_user(line, sink);
  } else if (type == "system") {
    reports_denials_ = reports_denials_ || line["subtype"].text() == "permission_denied";
    on_system(line, scratch_, sink);
  } else if (type == "result") {
    on_result(line, sink);
  } else if (type == "stream_event") {
    on_stream_event(line["event"], sink);
  } else if (type == "rate_limit_event") {
    const JsonView limit = line["rate_limit_info"];
    sink.on_event(event::Limit{limit["status"].text() == "rejected", time_from_unix(limit["resetsAt"].integer()),
                               limit["rateLimitType"].text()});
  } else if (!is_one_of(type, kIgnored)) {
    sink.on_event(event::Unknown{type, "unknown type"});
  }
}

void ClaudeReader::on_assistant(JsonView line, EventSink& sink) {
  const bool sub_agent = !line["parent_tool_use_id"].text().empty();
  const JsonView message = line["message"];
  if (const auto spent = usage_.on_message(message)) sink.on_event(*spent);
  if (is_api_error(line)) {
    on_api_error(line, sub_agent, sink);
    return;
  }
  // "Goal set: ..." and the like repeat the user's words; they are not the agent's answer.
  if (is_written_by_claude_code(message)) {
    sink.on_event(event::Progress{"notice", text_of_content(message["content"], scratch_)});
    has_others_words_ = true;
    return;
  }
  model_spoke_ = true;
  const JsonView content = message["content"];
  const auto say = [&](std::string_view text) {
    if (!sub_agent && !trim(text).empty()) has_own_words_ = true;
    sink.on_event(event::Text{text, false, sub_agent});
  };
  if (!content.text().empty()) say(content.text());
  for (const JsonView block : content) {
    const std::string_view type = block["type"].text();
    if (type == "text") {
      say(block["text"].text());
    } else if (type == "thinking") {
      sink.on_event(event::Thinking{block["thinking"].text(), sub_agent});
    } else if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use") {
      on_tool_use(block, sub_agent, sink);
    } else if (type.ends_with("tool_result")) {
      on_tool_result(block, {}, sub_agent, sink);
    } else if (!is_one_of(type, kIgnoredBlocks)) {
      sink.on_event(event::Unknown{type, "unknown content of an assistant message"});
    }
  }
}

// Claude Code wrote the text of this message, not the model.
void ClaudeReader::on_api_error(JsonView line, bool sub_agent, EventSink& sink) {
  const std::string_view message = text_of_content(line["message"]["content"], scratch_);
  if (sub_agent) {  // the parent agent learns of it, and may continue
    sink.on_event(event::Progress{"sub-agent failed", message});
    return;
  }
  failure_reported_ = true;
  sink.on_event(api_failure(line, message, clock_.wall()));
}

void ClaudeReader::on_tool_use(JsonView block, bool sub_agent, EventSink& sink) {
  const JsonView input = block["input"];
  const std::string_view name = block["name"].text();
  OpenTool& tool = tools_.start(block["id"].text(), name);
  sink.on_event(event::ToolStart{block["id"].text(), name, summary_of_input(input, scratch_), sub_agent});
  if (sub_agent) return;  // a sub-agent has its own list
  if (is_todo_tool(name)) {
    tool.todo = todo_items(input["todos"]);
  } else if (is_task_tool(name)) {
    tool.subject = input["subject"].text().substr(0, 8192);
    tool.task = input["taskId"].text().substr(0, 256);
    tool.status = input["status"].text().substr(0, 64);
  }
}

void ClaudeReader::on_user(JsonView line, EventSink& sink) {
  const bool sub_agent = !line["parent_tool_use_id"].text().empty();
  const JsonView content = line["message"]["content"];
  for (const JsonView block : content) {
    if (block["type"].text().ends_with("tool_result")) on_tool_result(block, line, sub_agent, sink);
  }
  // Prompts that Claude Code wrote itself: a hook's message, "continue" after an output limit.
  if (line["isSynthetic"].truth() && !sub_agent) {
    if (const std::string_view text = text_of_content(content, scratch_); !text.empty()) {
      sink.on_event(event::Progress{"feedback", text});
    }
  }
}

void ClaudeReader::on_tool_result(JsonView block, JsonView line, bool sub_agent, EventSink& sink) {
  const std::string_view id = block["tool_use_id"].text();
  const OpenTool& tool = tools_.end(id);
  const bool failed = block["is_error"].truth();
  if (!failed && !sub_agent) on_list_change(tool, line["tool_use_result"], sink);
  bool refused = false;
  for (const JsonView call : line["tool_result_meta"])
    refused = refused || (call["id"].text() == id && call["permission_decision"]["decision"].text() == "reject");
  const std::string_view output = text_of_content(block["content"], scratch_);
  // For versions without an event for this.
  if (failed && !reports_denials_ && is_without_permission(output))
    sink.on_event(event::Progress{event::Progress::kPermissionDenied, tool.name});
  sink.on_event(event::ToolEnd{id, tool.name, output, failed, sub_agent, refused});
}

// Called only after the tool has succeeded, because some versions refuse the call.
void ClaudeReader::on_list_change(const OpenTool& tool, JsonView result, EventSink& sink) {
  if (is_todo_tool(tool.name)) {
    sink.on_event(event::Todo{tool.todo});
    return;
  }
  if (!is_task_tool(tool.name)) return;
  result = result_tape_.look_into(result, wanted_of_task_result());
  if (tool.name == "TaskCreate") {
    const JsonView task = result["task"];
    if (task["id"].text().empty()) return;
    tasks_.create(task["id"].text(), task["subject"].text().empty() ? tool.subject : task["subject"].text());
  } else if (tool.name == "TaskUpdate") {
    if (result["success"].is(JsonKind::kBool) && !result["success"].truth()) return;
    const std::string_view status = result["statusChange"]["to"].text();
    tasks_.update(tool.task, tool.subject, status.empty() ? tool.status : status);
  } else if (result["tasks"].is(JsonKind::kArray)) {
    tasks_.replace(result["tasks"]);
  } else {
    return;
  }
  sink.on_event(event::Todo{tasks_.items()});
}

// The text of partial messages is repeated, whole, in an `assistant` line. Output tokens appear nowhere else before the
// result.
void ClaudeReader::on_stream_event(JsonView event, EventSink& sink) {
  const std::string_view type = event["type"].text();
  if (type == "message_start") partial_output_ = 0;
  if (type != "message_delta") return;
  const std::int64_t output = event["usage"]["output_tokens"].integer();  // cumulative within the message
  if (const auto spent = usage_.on_partial_output(output - partial_output_)) sink.on_event(*spent);
  partial_output_ = output;
}

void ClaudeReader::on_result(JsonView line, EventSink& sink) {
  // Check `is_error` too: an API error has the subtype "success".
  bool failed = line["is_error"].truth() || line["subtype"].text().starts_with("error");
  if (const auto spent = usage_.on_result(line)) sink.on_event(*spent);
  if (!failed && !model_spoke_ && line["num_turns"] && line["num_turns"].integer() == 0) {
    // Claude Code answered the prompt itself (for example, a /goal that is too long) and reports success.
    failed = true;
    sink.on_event(event::Failure{FailureKind::kRefused, line["result"].text(), std::nullopt});
  } else if (failed) {
    if (const auto failure = result_failure(line, failure_reported_, clock_.wall(), scratch_)) sink.on_event(*failure);
  }
  failure_reported_ = false;
  // The result repeats the last words, even if Claude Code wrote them.
  const bool is_others = has_others_words_ && !has_own_words_;
  sink.on_event(event::Result{failed, failed || is_others ? std::string_view() : line["result"].text(),
                              usage_.cost_usd(), usage_.tokens(),
                              static_cast<int>(std::clamp<std::int64_t>(line["num_turns"].integer(), 0, 1 << 30)),
                              Milliseconds(line["duration_ms"].integer())});
}

}  // namespace

bool is_written_by_claude_code(JsonView message) {
  return message["model"].text() == "<synthetic>";
}

std::unique_ptr<LineParser> make_claude_parser(const UsedBefore& before, const Clock& clock) {
  return std::make_unique<ClaudeReader>(before, clock);
}

}  // namespace ralph
