// Warns an agent as its context window fills up. There are five thresholds. The highest one reached raises an alert,
// once, and uses up those below it. Specified in docs/formats/hooks.md.
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

// State of a session that is kept between hooks.
struct ContextMemory {
  int spent = 0;            // the highest threshold that raised an alert, in percent
  std::uint64_t begin = 0;  // where the current context begins in the transcript: its size at the last compaction

  bool operator==(const ContextMemory&) const = default;
};

struct ContextReading {
  std::int64_t tokens = 0;
  std::int64_t window = 0;
  bool exact = false;  // counted by the model's provider; otherwise estimated from the size of the transcript
};

struct ContextStep {
  std::string alert{};  // for the model; empty: none
  ContextMemory memory{};
};

// The rule; a pure function. `plan`: the agent works on a plan, so the alert tells it to record remaining work in the
// plan's files.
ContextStep watch_context(const ContextMemory& memory, const ContextReading& reading, bool plan);

// How full the context is. The window is `configured` (CLAUDE_CONTEXT_WINDOW), otherwise what the transcript says,
// otherwise 200 000. `size` is the size of the transcript since the context began. nullopt if unknown.
std::optional<ContextReading> reading_from(const UsageSearch& search, std::uint64_t size,
                                           std::optional<std::int64_t> configured);

// The memory after a SessionStart; nullopt if the context is new.
std::optional<ContextMemory> memory_at_start(const ContextMemory& memory, std::string_view source, std::uint64_t size);

// ---- with files: one per session under $XDG_STATE_HOME/ralph/context -----------------------------------------------

class ContextMonitor {
 public:
  // Adds errors for the user to `complaints`.
  ContextMonitor(const Environment& environment, std::vector<std::string>& complaints)
      : environment_(environment), complaints_(complaints) {}

  // Called after a tool. Returns the alert for the model; empty: none. Concurrent hooks of one session raise it once. A
  // sub-agent gets none, because the context is not its own.
  std::string after_tool(const HookPayload& payload);

  // Called at the start of a session, and after a compaction or a clear. Rearms the thresholds, and removes the files
  // of sessions idle for a week.
  void at_session_start(const HookPayload& payload);

 private:
  std::string folder() const;
  std::string path_of(const std::string& session) const;
  ContextMemory load(const std::string& path) const;
  bool save(const std::string& path, const ContextMemory& memory);
  std::optional<std::int64_t> configured_window();
  void prune() const;

  const Environment& environment_;
  std::vector<std::string>& complaints_;
};

}  // namespace ralph
