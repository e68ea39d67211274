// Reads the stream of Claude Code (`--output-format stream-json`), and of others that print the same.
#pragma once

#include <string>

#include "agents/claude_usage.h"
#include "agents/open_tools.h"
#include "agents/stream.h"
#include "agents/todo_items.h"
#include "os/clock.h"

namespace ralph {

class ClaudeReader : public LineParser {
 public:
  ClaudeReader(const UsedBefore& before, const Clock& clock) : clock_(clock), usage_(before) {}

  const Wanted& wanted() const override;
  void on_object(JsonView line, EventSink& sink) override;

 private:
  void on_assistant(JsonView line, EventSink& sink);
  void on_api_error(JsonView line, bool sub_agent, EventSink& sink);
  void on_tool_use(JsonView block, bool sub_agent, EventSink& sink);
  void on_user(JsonView line, EventSink& sink);
  void on_tool_result(JsonView block, JsonView told, bool sub_agent, EventSink& sink);
  void on_list_change(const OpenTool& tool, JsonView told, EventSink& sink);
  void on_system(JsonView line, EventSink& sink);
  void on_stream_event(JsonView event, EventSink& sink);
  void on_result(JsonView line, EventSink& sink);

  const Clock& clock_;
  ClaudeUsage usage_;
  JsonTape looked_into_;
  OpenTools tools_;
  TodoList tasks_;
  bool failure_told_ = false;        // since the last result
  std::int64_t partial_output_ = 0;  // of the message under way, counted already
  std::string scratch_;
};

// The texts of a content that is a string, or blocks; a view into it or into `scratch`.
std::string_view text_of_content(JsonView content, std::string& scratch);

}  // namespace ralph
