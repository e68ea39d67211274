// Tokens and cost of Claude Code, which reports three kinds of counters:
//
// - `usage` of an `assistant` event counts one model message, and each event of the message repeats it. Input and cache
//   are right at once; output is a placeholder until the message has its `stop_reason`. An estimate.
// - `usage` of a `result` counts the turns since the last result, without sub-agents.
// - `modelUsage` and `total_cost_usd` of a `result` count the whole session, with sub-agents and the earlier runs that
//   this one resumes. Newer versions have `model_usage_since_last_result`, which is what we want: since the last
//   result, with sub-agents.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "agents/events.h"
#include "agents/stream.h"
#include "json/tape.h"
#include "json/wanted.h"

namespace ralph {

// The members of a message's `usage`; a result's is parsed later.
const Wanted& wanted_of_claude_usage();

class ClaudeUsage {
 public:
  explicit ClaudeUsage(const UsedBefore& before) : counted_(before) {}

  // An `assistant` event. nullopt if its message was already counted.
  std::optional<event::Spent> on_message(JsonView message);
  // The output of a message according to `--include-partial-messages`.
  std::optional<event::Spent> on_partial_output(std::int64_t tokens);
  // A `result`. Its Spent event makes the sum of all Spent events exact.
  std::optional<event::Spent> on_result(JsonView result);

  // Totals of this run so far.
  const Tokens& tokens() const { return tokens_; }
  std::optional<double> cost_usd() const { return cost_known_ ? std::optional(cost_usd_) : std::nullopt; }

 private:
  struct Exact {
    Tokens tokens;
    double cost_usd = 0;
  };
  std::optional<Exact> since_last_result(JsonView result);
  std::optional<event::Spent> estimate(const Tokens& tokens);
  bool seen_before(std::string_view message_id);

  JsonTape result_tape_;
  UsedBefore counted_;  // the previous values of the cumulative counters
  Tokens tokens_;
  double cost_usd_ = 0;
  bool cost_known_ = false;
  Tokens estimated_;  // since the last result
  // Messages of the agent and its sub-agents interleave, but never more than this many.
  std::array<size_t, 32> messages_{};  // hashes of their ids
  size_t next_message_ = 0;
};

}  // namespace ralph
