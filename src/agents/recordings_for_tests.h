// Shared by the stream tests: recordings of real agents, and events formatted as lines of JSON.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "agents/event_json.h"
#include "agents/registry.h"
#include "os/clock.h"

namespace ralph {

// Collects events as lines, because the texts in events are valid only during the call.
class EventLines : public EventSink {
 public:
  void on_event(const AgentEvent& event) override {
    if (const auto* spent = std::get_if<event::Spent>(&event)) {
      tokens += spent->tokens;
      cost_usd += spent->cost_usd;
    }
    if (const auto* result = std::get_if<event::Result>(&event)) {
      result_tokens = result->tokens;
      result_cost_usd = result->cost_usd;
    }
    unknown += std::holds_alternative<event::Unknown>(event) ? 1 : 0;
    ByteBuffer line;
    append_event_line(line, event);
    text += line.bytes();
  }

  std::string text;
  Tokens tokens;  // the sum of all Spent
  double cost_usd = 0;
  Tokens result_tokens;  // as reported by the last Result
  std::optional<double> result_cost_usd;
  int unknown = 0;
};

class FixedClock : public Clock {
 public:
  explicit FixedClock(WallTime wall) : wall_(wall) {}
  WallTime wall() const override { return wall_; }
  MonotonicTime monotonic() const override { return MonotonicTime(wall_.time_since_epoch()); }

 private:
  WallTime wall_;
};

inline constexpr WallTime kRecordingTime(Milliseconds(1'794'774'153'000));  // 2026-11-15T20:22:33Z

// The events of a whole stream, fed in pieces of `piece` bytes; 0: at once.
inline EventLines events_of(std::string_view agent, std::string_view stream, size_t piece = 0,
                            const UsedBefore& before = {}) {
  static const FixedClock clock(kRecordingTime);
  const auto reader = make_json_stream(make_line_parser(agent, before, &clock));
  EventLines events;
  while (!stream.empty()) {
    const std::string_view part = stream.substr(0, piece == 0 ? stream.size() : piece);
    reader->feed(part, events);
    stream.remove_prefix(part.size());
  }
  reader->finish(events);
  return events;
}

inline std::filesystem::path fixtures_folder() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "tests" / "fixtures";
}

inline std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Recording {
  std::string agent, name;
  std::string text;
};

inline std::vector<Recording> all_recordings() {
  std::vector<Recording> recordings;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixtures_folder() / "recordings")) {
    if (entry.path().extension() != ".ndjson") continue;
    recordings.push_back({entry.path().parent_path().filename(), entry.path().stem(), read_whole(entry.path())});
  }
  std::sort(recordings.begin(), recordings.end(), [](const Recording& a, const Recording& b) {
    return std::tie(a.agent, a.name) < std::tie(b.agent, b.name);
  });
  return recordings;
}

inline std::string recording(std::string_view agent, std::string_view name) {
  return read_whole(fixtures_folder() / "recordings" / agent / (std::string(name) + ".ndjson"));
}

}  // namespace ralph
