// Gemini CLI (`--output-format stream-json`).
#include <algorithm>
#include <string>

#include "agents/failure_from.h"
#include "agents/line_parsers.h"
#include "agents/open_tools.h"
#include "agents/todo_items.h"
#include "agents/tool_summary.h"

namespace ralph {
namespace {

class GeminiParser final : public LineParser {
 public:
  explicit GeminiParser(const Clock& clock) : clock_(clock) {}

  const Wanted& wanted() const override;
  void on_object(JsonView line, EventSink& sink) override;

 private:
  void on_tool_use(JsonView line, EventSink& sink);
  void on_tool_result(JsonView line, EventSink& sink);
  void on_error(JsonView line, EventSink& sink);
  void on_result(JsonView line, EventSink& sink);

  const Clock& clock_;
  OpenTools tools_;
  Tokens tokens_;
  std::string scratch_;
};

const Wanted& GeminiParser::wanted() const {
  static const Wanted error{{"type"}, {"message"}};
  static const Wanted stats{{"total_tokens"}, {"input_tokens"}, {"output_tokens"}, {"cached"}, {"duration_ms"}};
  static const Wanted line{{"type"},      {"session_id"}, {"model"},
                           {"role"},      {"content"},    {"delta"},
                           {"tool_name"}, {"tool_id"},    {"parameters", &wanted_of_tool_input()},
                           {"status"},    {"output"},     {"error", &error},
                           {"severity"},  {"message"},    {"stats", &stats}};
  return line;
}

void GeminiParser::on_object(JsonView line, EventSink& sink) {
  const std::string_view type = line["type"].text();
  if (type == "message") {
    // Its role may be "user": the prompt, echoed.
    if (line["role"].text() == "assistant") {
      sink.on_event(event::Text{line["content"].text(), line["delta"].truth(), false});
    }
  } else if (type == "tool_use") {
    on_tool_use(line, sink);
  } else if (type == "tool_result") {
    on_tool_result(line, sink);
  } else if (type == "error") {
    on_error(line, sink);
  } else if (type == "result") {
    on_result(line, sink);
  } else if (type == "init") {
    sink.on_event(event::Session{line["session_id"].text(), line["model"].text(), {}});
  } else {
    sink.on_event(event::Unknown{type, "unknown type"});
  }
}

void GeminiParser::on_tool_use(JsonView line, EventSink& sink) {
  const std::string_view id = line["tool_id"].text();
  const std::string_view name = line["tool_name"].text();
  OpenTool& tool = tools_.start(id, name);
  if (name == "write_todos") tool.todo = todo_items(line["parameters"]["todos"]);
  sink.on_event(event::ToolStart{id, name, summary_of_input(line["parameters"], scratch_), false});
}

// A command that failed has the status "success" too, and says so only in its output: that is no field to go by.
void GeminiParser::on_tool_result(JsonView line, EventSink& sink) {
  const std::string_view id = line["tool_id"].text();
  const bool failed = line["status"].text() == "error";
  const std::string_view output = line["output"].text();
  const OpenTool& tool = tools_.end(id);
  if (tool.name == "write_todos" && !failed) sink.on_event(event::Todo{tool.todo});
  sink.on_event(
      event::ToolEnd{id, tool.name, output.empty() ? line["error"]["message"].text() : output, failed, false});
}

void GeminiParser::on_error(JsonView line, EventSink& sink) {
  const std::string_view message = line["message"].text();
  if (line["severity"].text() != "error") {
    sink.on_event(event::Progress{"warning", message});
    return;
  }
  const ToldFailure told = failure_from_message(message, clock_.wall());
  sink.on_event(event::Failure{told.kind, told.message, told.resets_at});
}

void GeminiParser::on_result(JsonView line, EventSink& sink) {
  const JsonView stats = line["stats"];
  const std::int64_t cached = stats["cached"].integer();
  const std::int64_t input = stats["input_tokens"].integer();
  // Thinking is in the total only.
  const std::int64_t output = std::max(stats["output_tokens"].integer(), stats["total_tokens"].integer() - input);
  const Tokens told{std::max<std::int64_t>(input - cached, 0), output, cached, 0};
  const Tokens used = told - tokens_;
  tokens_ = told;
  if (!(used == Tokens())) sink.on_event(event::Spent{used, 0, false});

  event::Result result;
  result.failed = line["status"].text() != "success";
  result.tokens = tokens_;
  result.duration = Milliseconds(stats["duration_ms"].integer());
  if (result.failed) {
    const JsonView error = line["error"];
    const ToldFailure failure = failure_from_message(error["message"].text(), clock_.wall());
    const FailureKind kind = failure_from_type(error["type"].text());
    sink.on_event(event::Failure{kind == FailureKind::kNone ? failure.kind : kind, failure.message, failure.resets_at});
  }
  sink.on_event(result);
}

}  // namespace

std::unique_ptr<LineParser> make_gemini_parser(const Clock& clock) {
  return std::make_unique<GeminiParser>(clock);
}

}  // namespace ralph
