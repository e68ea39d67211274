// What Claude Code has used, from counters of three kinds:
//
// - `usage` of an `assistant` event: of one model message, repeated on each of its events. Input and cache are right at
//   once; output is a placeholder until the message has its `stop_reason`. An estimate.
// - `usage` of a `result`: of the turns since the last result, without sub-agents.
// - `modelUsage` and `total_cost_usd` of a `result`: of the whole session, with sub-agents and earlier runs that this
//   one resumes. `model_usage_since_last_result`, of newer versions, is what is wanted: since the last result, with
//   sub-agents.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "agents/events.h"
#include "agents/stream.h"
#include "json/tape.h"
#include "json/wanted.h"

namespace ralph {

// Of `usage` in messages; those of a result are looked into later.
const Wanted& wanted_of_claude_usage();

class ClaudeUsage {
 public:
  explicit ClaudeUsage(const UsedBefore& before) : counted_(before) {}

  // An `assistant` event. Nothing if its message was counted before.
  std::optional<event::Spent> on_message(JsonView message);
  // The output of a message as told by `--include-partial-messages`.
  std::optional<event::Spent> on_partial_output(std::int64_t tokens);
  // A `result`: what makes the sum of all Spent events exact.
  std::optional<event::Spent> on_result(JsonView result);

  // Of this run so far.
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

  JsonTape looked_into_;
  UsedBefore counted_;  // of the counters that go on from run to run: what is told already
  Tokens tokens_;
  double cost_usd_ = 0;
  bool cost_known_ = false;
  Tokens estimated_;  // since the last result
  // The messages of the agent and of its sub-agents mix, but only so many are under way at once.
  std::array<size_t, 32> messages_{};  // hashes of their ids
  size_t next_message_ = 0;
};

}  // namespace ralph
