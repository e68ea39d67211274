// From an agent's bytes to events. Bytes come in pieces of any size; memory does not grow with the stream.
#pragma once

#include <memory>
#include <string_view>

#include "agents/events.h"
#include "json/view.h"
#include "json/wanted.h"
#include "os/clock.h"

namespace ralph {

// Understands the lines of one kind of agent. One parser reads one run.
class LineParser {
 public:
  virtual ~LineParser() = default;
  virtual const Wanted& wanted() const = 0;  // what on_object looks at; the rest of a line is not read
  virtual void on_object(JsonView line, EventSink& sink) = 0;
  virtual void on_end(EventSink&) {}  // the stream is over
};

// What a session had used before this run, where the agent's counters go on from there (after a resume).
struct UsedBefore {
  Tokens tokens;
  double cost_usd = 0;
};

// "claude", "codex", "amp", "gemini", "opencode"; nothing for any other name. The clock is for messages that tell the
// end of a limit as "3:33 AM" or "in 2 hours": the system's, or one that outlives the parser.
std::unique_ptr<LineParser> make_line_parser(std::string_view stream, const UsedBefore& before = {},
                                             const Clock* clock = nullptr);

// A whole stream: lines, JSON, events. Line ends may be LF or CRLF, a byte order mark is passed over, blank lines are
// ignored, invalid UTF-8 and lone surrogates are repaired, a last line without its end is read too. A line of more than
// kLongestLine bytes is not kept: it is reported as event::Unknown with the type that could be seen in it.
class AgentStream {
 public:
  static constexpr size_t kLongestLine = 16 << 20;

  virtual ~AgentStream() = default;
  virtual void feed(std::string_view bytes, EventSink& sink) = 0;
  virtual void finish(EventSink& sink) = 0;
};

std::unique_ptr<AgentStream> make_json_stream(std::unique_ptr<LineParser> parser);

// Plain text: all of it is the agent's own words, as event::Text pieces.
std::unique_ptr<AgentStream> make_text_stream();

}  // namespace ralph
