// Tells an agent in time that its context window fills up. Five thresholds; the highest that is crossed is told, once,
// and those below it are then spent. Specified in docs/formats/hooks.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hooks/payload.h"
#include "os/environment.h"
#include "session/transcript.h"

namespace ralph {

// What is remembered of a session between two hooks.
struct ContextMemory {
  int spent = 0;            // the highest threshold that was told, in percent
  std::uint64_t begin = 0;  // where in the transcript the present context begins: its size at the last compaction

  bool operator==(const ContextMemory&) const = default;
};

struct ContextReading {
  std::int64_t tokens = 0;
  std::int64_t window = 0;
  bool exact = false;  // counted by the model's provider; else estimated from the transcript's size
};

struct ContextStep {
  std::string alert{};  // for the model; empty: nothing to say
  ContextMemory memory{};
};

// The rule. Pure.
ContextStep watch_context(const ContextMemory& memory, const ContextReading& reading);

// How full the context is. `wish` is CLAUDE_CONTEXT_WINDOW: it counts more than what the transcript says of the window,
// and that more than 200 000. `size` is of the transcript since the context began. Nothing: it can't be known.
std::optional<ContextReading> reading_from(const UsageSearch& search, std::uint64_t size,
                                           std::optional<std::int64_t> wish);

// Of a SessionStart: what is remembered from now on. Nothing: all is forgotten, the session's context is a new one.
std::optional<ContextMemory> memory_at_start(const ContextMemory& memory, std::string_view source, std::uint64_t size);

// ---- with files: one per session under $XDG_STATE_HOME/ralph/context -----------------------------------------------

class ContextMonitor {
 public:
  // What the user should know is added to `complaints`.
  ContextMonitor(const Environment& environment, std::vector<std::string>& complaints)
      : environment_(environment), complaints_(complaints) {}

  // After a tool: the alert for the model; empty: none. Hooks of one session that run at once do not tell it twice.
  // A sub-agent is told nothing: the context is not its own, and what is to be done is not its to do.
  std::string after_tool(const HookPayload& payload);

  // At the start of a session, and after a compaction or a clear within it: the thresholds are armed again. What is
  // left of sessions that nobody has heard of for a week is removed.
  void at_session_start(const HookPayload& payload);

 private:
  std::string folder() const;
  std::string path_of(const std::string& session) const;
  ContextMemory load(const std::string& path) const;
  bool save(const std::string& path, const ContextMemory& memory);
  std::optional<std::int64_t> wish();
  void prune() const;

  const Environment& environment_;
  std::vector<std::string>& complaints_;
};

}  // namespace ralph
