// Turns an agent's output into events. Bytes arrive in pieces of any size; memory use does not grow with the stream.
#pragma once

#include <memory>
#include <string_view>

#include "agents/events.h"
#include "json/view.h"
#include "json/wanted.h"
#include "os/clock.h"

namespace ralph {

// Parses the lines of one agent's stream. One parser reads one run.
class LineParser {
 public:
  virtual ~LineParser() = default;
  virtual const Wanted& wanted() const = 0;  // the members that on_object reads; others are skipped
  virtual void on_object(JsonView line, EventSink& sink) = 0;
  virtual void on_end(EventSink&) {}  // the stream has ended
};

// Usage of a resumed session before this run; some agents' counters continue from there.
struct UsedBefore {
  Tokens tokens;
  double cost_usd = 0;
};

// A whole stream: lines, JSON, events. Lines end in LF or CRLF; the last may be unterminated. A byte order mark and
// blank lines are skipped; invalid UTF-8 and lone surrogates are repaired. A line of more than kLongestLine bytes is
// reported as event::Unknown, with its type if that appears near the beginning.
class AgentStream {
 public:
  static constexpr size_t kLongestLine = 16 << 20;

  virtual ~AgentStream() = default;
  virtual void feed(std::string_view bytes, EventSink& sink) = 0;
  virtual void finish(EventSink& sink) = 0;
};

std::unique_ptr<AgentStream> make_json_stream(std::unique_ptr<LineParser> parser);

// Plain text: every byte is the agent's own words, as pieces of event::Text.
std::unique_ptr<AgentStream> make_text_stream();

}  // namespace ralph
