// Whoever watches a run: the console, `--json`. It is told of every record after it was written, and of output as it
// arrives (secrets already masked).
#pragma once

#include <optional>
#include <string_view>

#include "agents/events.h"
#include "base/time.h"
#include "engine/progress.h"
#include "journal/records.h"

namespace ralph {

class RunListener : public EventSink {
 public:
  // `progress` includes the record.
  virtual void on_record(const record::Record& record, const Progress& progress) = 0;
  virtual void on_agent_output(std::string_view bytes) = 0;
  virtual void on_agent_error_output(std::string_view bytes) = 0;
  virtual void on_detail(std::string_view line) = 0;  // for --verbose

  // While a check runs: how often to be told that it still does. Nothing: never.
  virtual std::optional<Milliseconds> tick_interval() const = 0;
  virtual void on_tick(Milliseconds since_start) = 0;

  // While the run waits (for a limit to end, before a retry): how often to be told how long it still does.
  virtual std::optional<Milliseconds> countdown_interval() const = 0;
  virtual void on_countdown(Milliseconds left) = 0;
};

// For runs that nobody watches.
class NullListener : public RunListener {
 public:
  void on_event(const AgentEvent&) override {}
  void on_record(const record::Record&, const Progress&) override {}
  void on_agent_output(std::string_view) override {}
  void on_agent_error_output(std::string_view) override {}
  void on_detail(std::string_view) override {}
  std::optional<Milliseconds> tick_interval() const override { return std::nullopt; }
  void on_tick(Milliseconds) override {}
  std::optional<Milliseconds> countdown_interval() const override { return std::nullopt; }
  void on_countdown(Milliseconds) override {}
};

}  // namespace ralph
