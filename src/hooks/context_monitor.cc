#include "hooks/context_monitor.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ralph {
namespace {

constexpr std::int64_t kUsualWindow = 200'000;
constexpr std::int64_t kLargeWindow = 1'000'000;
constexpr int kDrop = 10;  // percent below the last alert: the context was compacted, not just trimmed

// For an agent that works on a plan, and for any other.
struct Message {
  std::string_view in_plan, elsewhere;
};

constexpr Message kNotice = {
    "Be mindful of remaining space. Plan to finish your current task within this session. If you discover follow-up "
    "work, add new stories to tasks.json — the next iteration will pick them up.",
    "Be mindful of remaining space. Plan to finish your current task within this session."};
constexpr Message kWarning = {
    "Finish your current task and commit soon. Do not start additional tasks. If work remains, create new stories in "
    "tasks.json for the next iteration and capture any implementation details or insights in progress.txt so the next "
    "iteration has full context.",
    "Finish your current task and commit soon. Do not start additional tasks. If work remains, write down what is left "
    "and what you have learned, where the next session will find it."};
constexpr Message kCritical = {
    "Wrap up immediately. Do NOT start new work. Instead: (1) create tasks in tasks.json for any remaining work, (2) "
    "write implementation details, insights, and handoff notes to progress.txt, (3) commit all changes, (4) stop. The "
    "next iteration will continue from where you left off.",
    "Wrap up immediately. Do NOT start new work. Instead: (1) write down the remaining work, implementation details "
    "and "
    "insights where the next session will find them, (2) commit all changes, (3) tell the user what is left."};

struct Threshold {
  int percent;
  std::string_view severity;
  Message message;
};
constexpr std::array kThresholds = {
    Threshold{50, "NOTICE", kNotice},   Threshold{60, "NOTICE", kNotice},     Threshold{70, "WARNING", kWarning},
    Threshold{80, "WARNING", kWarning}, Threshold{90, "CRITICAL", kCritical},
};

// The highest threshold reached; nullptr: none.
const Threshold* threshold_at(std::int64_t percent) {
  const Threshold* found = nullptr;
  for (const Threshold& threshold : kThresholds) {
    if (percent >= threshold.percent) found = &threshold;
  }
  return found;
}

std::string thousands(std::int64_t tokens) {
  return tokens < 10'000 ? fmt::format("{}", tokens) : fmt::format("{}k", (tokens + 500) / 1000);
}

}  // namespace

ContextStep watch_context(const ContextMemory& memory, const ContextReading& reading, bool plan) {
  ContextStep step{.memory = memory};
  if (reading.window <= 0 || reading.tokens < 0) return step;
  const std::int64_t tokens = std::min(reading.tokens, std::int64_t{1} << 48);
  const std::int64_t percent = tokens * 100 / reading.window;
  const Threshold* const reached = threshold_at(percent);
  const int level = reached ? reached->percent : 0;
  if (percent <= memory.spent - kDrop) step.memory.spent = level;
  if (level <= step.memory.spent) return step;
  step.memory.spent = level;
  step.alert = fmt::format("[ralph] Context {}: about {}% of the context window is used ({}{} of {} tokens). {}",
                           reached->severity, std::min<std::int64_t>(percent, 100), reading.exact ? "" : "estimated ",
                           thousands(tokens), thousands(reading.window),
                           plan ? reached->message.in_plan : reached->message.elsewhere);
  return step;
}

std::optional<ContextReading> reading_from(const UsageSearch& search, std::uint64_t size,
                                           std::optional<std::int64_t> configured) {
  if (!search.use) {
    // The host counts exactly, but the count is out of reach. The size is no substitute: the transcript also contains
    // copies and compacted messages.
    if (search.out_of_reach) return std::nullopt;
    return ContextReading{static_cast<std::int64_t>(size / 4), configured.value_or(kUsualWindow), false};
  }
  ContextReading reading{search.use->tokens, kUsualWindow, true};
  if (search.use->window > 0) reading.window = search.use->window;
  // More tokens than fit into the usual window: it must be a large one, which transcripts do not mention.
  else if (reading.tokens > kUsualWindow)
    reading.window = kLargeWindow;
  if (configured) reading.window = *configured;
  return reading;
}

std::optional<ContextMemory> memory_at_start(const ContextMemory& memory, std::string_view source, std::uint64_t size) {
  if (source == "resume") return memory;  // the same context, with its alerts
  if (source == "compact" || source == "clear") return ContextMemory{.spent = 0, .begin = size};
  return std::nullopt;
}

}  // namespace ralph
