#include <algorithm>
#include <array>

#include "agents/claude_reader.h"
#include "agents/claude_system.h"
#include "agents/failure_from.h"
#include "agents/line_parsers.h"
#include "agents/tool_summary.h"

namespace ralph {
namespace {

// Events that tell nothing which another event does not tell better, or which are not about the work.
constexpr std::array<std::string_view, 8> kIgnored = {
    "tool_progress",          // a tool is still running
    "tool_use_summary",       // for screens
    "prompt_suggestion",      // for screens
    "auth_status",            // of a login
    "keep_alive",             // of the control protocol, as the following
    "control_request",        //
    "control_response",       //
    "control_cancel_request"  //
};

constexpr std::array<std::string_view, 4> kIgnoredBlocks = {"redacted_thinking", "image", "document", "fallback"};

bool contains(auto& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_todo_tool(std::string_view name) {
  return name == "TodoWrite" || name == "todo_write";
}

bool is_task_tool(std::string_view name) {
  return name == "TaskCreate" || name == "TaskUpdate" || name == "TaskList";
}

const Wanted& wanted_of_task_result() {
  static const Wanted task{{"id"}, {"subject"}, {"status"}};
  static const Wanted change{{"to"}};
  static const Wanted told{{"task", &task}, {"tasks", &task}, {"success"}, {"taskId"}, {"statusChange", &change}};
  return told;
}

bool is_api_error(JsonView line) {
  // Older versions mark it by the model's name only.
  return line["is_api_error_message"].truth() ||
         (line["error"].is(JsonKind::kString) && line["message"]["model"].text() == "<synthetic>");
}

}  // namespace

void ClaudeReader::on_object(JsonView line, EventSink& sink) {
  const std::string_view type = line["type"].text();
  if (type == "assistant") {
    on_assistant(line, sink);
  } else if (type == "user") {
    on_user(line, sink);
  } else if (type == "system") {
    on_system(line, sink);
  } else if (type == "result") {
    on_result(line, sink);
  } else if (type == "stream_event") {
    on_stream_event(line["event"], sink);
  } else if (type == "rate_limit_event") {
    const JsonView limit = line["rate_limit_info"];
    sink.on_event(event::Limit{limit["status"].text() == "rejected", time_from_unix(limit["resetsAt"].integer()),
                               limit["rateLimitType"].text()});
  } else if (!contains(kIgnored, type)) {
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
  const JsonView content = message["content"];
  if (!content.text().empty()) sink.on_event(event::Text{content.text(), false, sub_agent});
  for (const JsonView block : content) {
    const std::string_view type = block["type"].text();
    if (type == "text") {
      sink.on_event(event::Text{block["text"].text(), false, sub_agent});
    } else if (type == "thinking") {
      sink.on_event(event::Thinking{block["thinking"].text(), sub_agent});
    } else if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use") {
      on_tool_use(block, sub_agent, sink);
    } else if (type.ends_with("tool_result")) {
      on_tool_result(block, {}, sub_agent, sink);
    } else if (!contains(kIgnoredBlocks, type)) {
      sink.on_event(event::Unknown{type, "unknown content of an assistant message"});
    }
  }
}

// What stands in its text is Claude Code's sentence, not the model's.
void ClaudeReader::on_api_error(JsonView line, bool sub_agent, EventSink& sink) {
  const std::string_view message = text_of_content(line["message"]["content"], scratch_);
  if (sub_agent) {  // the agent that started it is told, and may go on
    sink.on_event(event::Progress{"sub-agent failed", message});
    return;
  }
  failure_told_ = true;
  sink.on_event(api_failure(line, message, clock_.wall()));
}

void ClaudeReader::on_tool_use(JsonView block, bool sub_agent, EventSink& sink) {
  const JsonView input = block["input"];
  const std::string_view name = block["name"].text();
  OpenTool& tool = tools_.start(block["id"].text(), name);
  sink.on_event(event::ToolStart{block["id"].text(), name, summary_of_input(input, scratch_), sub_agent});
  if (sub_agent) return;  // its list is its own
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
    if (block["type"].text().ends_with("tool_result")) on_tool_result(block, line["tool_use_result"], sub_agent, sink);
  }
  // Prompts that Claude Code makes itself: what a hook has to say, "go on" after a limit of output.
  if (line["isSynthetic"].truth() && !sub_agent) {
    if (const std::string_view text = text_of_content(content, scratch_); !text.empty()) {
      sink.on_event(event::Progress{"feedback", text});
    }
  }
}

void ClaudeReader::on_tool_result(JsonView block, JsonView told, bool sub_agent, EventSink& sink) {
  const OpenTool& tool = tools_.end(block["tool_use_id"].text());
  const bool failed = block["is_error"].truth();
  if (!failed && !sub_agent) on_list_change(tool, told, sink);
  sink.on_event(event::ToolEnd{block["tool_use_id"].text(), tool.name, text_of_content(block["content"], scratch_),
                               failed, sub_agent});
}

// Lists change when the tool has succeeded: some versions refuse it.
void ClaudeReader::on_list_change(const OpenTool& tool, JsonView told, EventSink& sink) {
  if (is_todo_tool(tool.name)) {
    sink.on_event(event::Todo{tool.todo});
    return;
  }
  if (!is_task_tool(tool.name)) return;
  told = looked_into_.look_into(told, wanted_of_task_result());
  if (tool.name == "TaskCreate") {
    const JsonView task = told["task"];
    if (task["id"].text().empty()) return;
    tasks_.create(task["id"].text(), task["subject"].text().empty() ? tool.subject : task["subject"].text());
  } else if (tool.name == "TaskUpdate") {
    if (told["success"].is(JsonKind::kBool) && !told["success"].truth()) return;
    const std::string_view status = told["statusChange"]["to"].text();
    tasks_.update(tool.task, tool.subject, status.empty() ? tool.status : status);
  } else if (told["tasks"].is(JsonKind::kArray)) {
    tasks_.replace(told["tasks"]);
  } else {
    return;
  }
  sink.on_event(event::Todo{tasks_.items()});
}

void ClaudeReader::on_system(JsonView line, EventSink& sink) {
  claude_system_event(line, scratch_, sink);
}

// The text in these comes again, whole, as `assistant`. What comes nowhere else before the result is the output used.
void ClaudeReader::on_stream_event(JsonView event, EventSink& sink) {
  const std::string_view type = event["type"].text();
  if (type == "message_start") partial_output_ = 0;
  if (type != "message_delta") return;
  const std::int64_t output = event["usage"]["output_tokens"].integer();  // cumulative within the message
  if (const auto spent = usage_.on_partial_output(output - partial_output_)) sink.on_event(*spent);
  partial_output_ = output;
}

void ClaudeReader::on_result(JsonView line, EventSink& sink) {
  // Success is `is_error` false: an API error has the subtype "success".
  const bool failed = line["is_error"].truth() || line["subtype"].text().starts_with("error");
  if (const auto spent = usage_.on_result(line)) sink.on_event(*spent);
  if (failed) {
    if (const auto failure = result_failure(line, failure_told_, clock_.wall(), scratch_)) sink.on_event(*failure);
  }
  failure_told_ = false;
  sink.on_event(event::Result{failed, failed ? std::string_view() : line["result"].text(), usage_.cost_usd(),
                              usage_.tokens(),
                              static_cast<int>(std::clamp<std::int64_t>(line["num_turns"].integer(), 0, 1 << 30)),
                              Milliseconds(line["duration_ms"].integer())});
}

std::string_view text_of_content(JsonView content, std::string& scratch) {
  if (content.is(JsonKind::kString)) return content.text();
  std::string_view only;
  size_t texts = 0;
  scratch.clear();
  for (const JsonView block : content) {
    const std::string_view text = block.is(JsonKind::kString) ? block.text() : block["text"].text();
    if (text.empty()) continue;
    if (++texts == 1) {
      only = text;
      continue;
    }
    if (texts == 2) scratch = only;
    scratch += '\n';
    scratch += text;
  }
  return texts < 2 ? only : std::string_view(scratch);
}

std::unique_ptr<LineParser> make_claude_parser(const UsedBefore& before, const Clock& clock) {
  return std::make_unique<ClaudeReader>(before, clock);
}

}  // namespace ralph
