// Whoever watches a run: the console, `--json`. It is told of every record after it was written, and of output as it
// arrives (secrets already masked).
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"
#include "journal/records.h"

namespace ralph {

class RunListener {
 public:
  virtual ~RunListener() = default;

  virtual void on_record(const record::Record& record) = 0;
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

}  // namespace ralph
