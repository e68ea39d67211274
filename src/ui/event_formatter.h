// Formats an agent's events for people: a line per tool call and its result, the agent's text as it arrives, its todo
// list, a closing line with its usage. Shared by the console and `ralph stream --pretty`.
//
//   ⏺ Read(/path/to/file.go)
//   ✅ Result ← Read (45 lines, 1234 chars)
//     ⎿  package main
//
// No event can control a terminal: every text passes through TerminalFilter, which strips colours too, wherever the
// output goes. The only control sequences written are the colours of `style`.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "agents/events.h"
#include "ui/line_flow.h"
#include "ui/style.h"
#include "ui/terminal_filter.h"

namespace ralph {

struct FormatOptions {
  bool emoji = true;            // false: words such as [OK], [ERR]
  bool timestamps = false;      // [HH:MM:SS] before every line
  size_t max_output_lines = 5;  // of a tool's output; 0: none
  size_t max_output_chars = 1000;
  bool thinking = false;  // show the agent's reasoning
};

class EventFormatter : public EventSink {
 public:
  using Write = LineFlow::Write;  // called once per event shown
  using Now = std::function<WallTime()>;

  EventFormatter(const FormatOptions& options, const Style& style, Write write, Now now);
  EventFormatter(const EventFormatter&) = delete;
  EventFormatter& operator=(const EventFormatter&) = delete;

  void on_event(const AgentEvent& event) override;

  // Ends the current line: the agent has ended, or other output follows.
  void finish();

  // A new turn begins: resets the counts and costs of the last one.
  void begin_turn();

  // Other output has ended the current line and written below it.
  void interrupted();

 private:
  struct Symbols;

  void show(const event::Session& session);
  void show(const event::Text& text);
  void show(const event::Thinking& thinking);
  void show(const event::ToolStart& start);
  void show(const event::ToolEnd& end);
  void show(const event::Todo& todo);
  void show(const event::Spent& spent);
  void show(const event::Result& result);
  void show(const event::Progress& progress);
  void show(const event::Retry& retry);
  void show(const event::Limit& limit);
  void show(const event::Failure& failure);
  void show(const event::Unknown& unknown);

  void begin(Block block);  // ends text that is still arriving
  void end_words();
  void note(std::string_view mark, std::string_view text);
  std::string one_line(std::string_view text, size_t columns) const;
  std::string tool_label(std::string_view name, std::string_view summary, size_t columns) const;
  std::string reset_phrase(WallTime resets_at) const;
  std::string facts_of(const event::Result& result) const;

  FormatOptions options_;
  Style style_;
  Now now_;
  const Symbols& symbols_;
  bool unicode_;
  LineFlow flow_;

  TerminalFilter words_{false};
  bool flowing_ = false;  // text is arriving in pieces
  bool flowing_sub_agent_ = false;
  bool said_something_ = false;  // the agent itself, not a sub-agent, since its last result

  std::map<std::string, std::string, std::less<>> running_;  // tools by id: "Read(/path)"
  std::string tool_above_;  // whose start is on the line above, so its end need not repeat the label
  std::string todo_tool_;   // whose start was followed by a todo list, shown instead of its output
  std::string session_, last_todo_, last_progress_, last_failure_;
  std::set<std::string, std::less<>> limits_shown_;
  size_t tools_ = 0, errors_ = 0, not_understood_ = 0;
  event::Spent spent_;
};

}  // namespace ralph
