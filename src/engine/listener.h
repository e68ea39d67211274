// Observers of a run: the console, `--json`. They receive every record after it is written, and output as it arrives,
// with secrets masked.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "agents/events.h"
#include "base/time.h"
#include "engine/progress.h"
#include "journal/records.h"
#include "os/outlet.h"

namespace ralph {

// A step that is running: an agent, a guardrail, an SCM command.
struct Tick {
  Milliseconds running{0};
  double cost_usd = 0;  // of this step so far
  std::int64_t tokens = 0;
  std::optional<Milliseconds> ended_in{};  // it gave its result but keeps running; ralph ends it then
};

class RunListener : public EventSink {
 public:
  // `progress` includes the record, and is the same object for the whole run.
  virtual void on_record(const record::Record& record, const Progress& progress) = 0;
  virtual void on_agent_output(std::string_view bytes) = 0;
  virtual void on_agent_error_output(std::string_view bytes) = 0;
  virtual void on_detail(std::string_view line) = 0;                   // for --verbose
  virtual void on_trouble(std::string_view line) { on_detail(line); }  // something that a person should know

  // The outputs it writes to, for the event loop to poll.
  virtual std::vector<Outlet*> outlets() { return {}; }

  // The interval of on_tick() while a step runs. nullopt: never.
  virtual std::optional<Milliseconds> tick_interval() const = 0;
  virtual void on_tick(const Tick& tick) = 0;

  // The interval of on_countdown() while the run waits for a limit to end or before a retry. nullopt: never.
  virtual std::optional<Milliseconds> countdown_interval() const = 0;
  virtual void on_countdown(Milliseconds left) = 0;
};

// For runs without an observer.
class NullListener : public RunListener {
 public:
  void on_event(const AgentEvent&) override {}
  void on_record(const record::Record&, const Progress&) override {}
  void on_agent_output(std::string_view) override {}
  void on_agent_error_output(std::string_view) override {}
  void on_detail(std::string_view) override {}
  std::optional<Milliseconds> tick_interval() const override { return std::nullopt; }
  void on_tick(const Tick&) override {}
  std::optional<Milliseconds> countdown_interval() const override { return std::nullopt; }
  void on_countdown(Milliseconds) override {}
};

}  // namespace ralph
