// Warns an agent that its context window fills up. There are five thresholds; the highest one that is crossed raises an
// alert, once, and uses up those below it. Specified in docs/formats/hooks.md.
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

// What is kept of a session between two hooks.
struct ContextMemory {
  int spent = 0;            // the highest threshold that raised an alert, in percent
  std::uint64_t begin = 0;  // where the present context begins in the transcript: its size at the last compaction

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

// The rule. Pure. `plan`: the agent works on a plan, whose files are the place for what is left to do.
ContextStep watch_context(const ContextMemory& memory, const ContextReading& reading, bool plan);

// How full the context is. The window is `configured` (CLAUDE_CONTEXT_WINDOW), otherwise what the transcript says,
// otherwise 200 000. `size` is that of the transcript since the context began. Nothing: it is unknown.
std::optional<ContextReading> reading_from(const UsageSearch& search, std::uint64_t size,
                                           std::optional<std::int64_t> configured);

// At a SessionStart: what is kept from now on. Nothing: the context is a new one.
std::optional<ContextMemory> memory_at_start(const ContextMemory& memory, std::string_view source, std::uint64_t size);

// ---- with files: one per session under $XDG_STATE_HOME/ralph/context -----------------------------------------------

class ContextMonitor {
 public:
  // Adds errors for the user to `complaints`.
  ContextMonitor(const Environment& environment, std::vector<std::string>& complaints)
      : environment_(environment), complaints_(complaints) {}

  // After a tool: the alert for the model; empty: none. Concurrent hooks of one session raise it once. A sub-agent gets
  // none: neither the context nor the work is its own.
  std::string after_tool(const HookPayload& payload);

  // At the start of a session, and after a compaction or a clear: arms the thresholds again. Removes the files of
  // sessions that were idle for a week.
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
