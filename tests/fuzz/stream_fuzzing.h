// Shared by the fuzzers of the streams. Any bytes, in pieces of any size, give the same events, each of which is a
// valid line of JSON. libFuzzer's limit bounds the memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agents/event_json.h"
#include "agents/registry.h"
#include "base/utf8.h"
#include "json/value.h"
#include "os/clock.h"

namespace ralph::fuzzing {

inline void require(bool holds) {
  if (!holds) std::abort();
}

class Events : public EventSink {
 public:
  void on_event(const AgentEvent& event) override {
    if (const auto* text = std::get_if<event::Text>(&event))
      require(find_invalid_utf8(text->text) == std::string::npos);
    append_event_line(lines, event);
  }
  ByteBuffer lines;
};

class StoppedClock : public Clock {
 public:
  WallTime wall() const override { return WallTime(Milliseconds(1'794'774'153'000)); }
  MonotonicTime monotonic() const override { return {}; }
};

// The input's size determines the size of the pieces, so a recording can be used as an input unchanged.
inline int check_stream(std::string_view agent, const std::uint8_t* data, size_t size) {
  static const StoppedClock clock;
  const size_t piece = size % 61 + 1;
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  Events whole;
  const auto at_once = make_json_stream(make_line_parser(agent, {}, &clock));
  at_once->feed(text, whole);
  at_once->finish(whole);

  Events pieces;
  const auto in_pieces = make_json_stream(make_line_parser(agent, {}, &clock));
  for (size_t at = 0; at < text.size(); at += piece) in_pieces->feed(text.substr(at, piece), pieces);
  in_pieces->finish(pieces);

  require(whole.lines.bytes() == pieces.lines.bytes());
  std::string_view lines = whole.lines.bytes();
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    require(parse_json(line, "event").has_value());
    lines.remove_prefix(line.size() + 1);
  }
  return 0;
}

}  // namespace ralph::fuzzing
