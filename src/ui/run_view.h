// What a run was, as people ask for it: its progress, and iteration by iteration its steps. Made from the records of
// one journal; pure, and content with a journal that ends or begins anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/progress.h"

namespace ralph {

// Something that begins and ends. Without an end it was under way when the journal stopped.
template <class Started, class Ended>
struct StepOf {
  Started started;
  std::optional<Ended> ended;
};
using AgentTurn = StepOf<record::AgentStarted, record::AgentEnded>;
using GuardrailCheck = StepOf<record::GuardrailStarted, record::GuardrailEnded>;
using ScmTask = StepOf<record::ScmStarted, record::ScmEnded>;

using RunStep = std::variant<AgentTurn, GuardrailCheck, ScmTask, record::ProcessesSwept, record::SignalReceived,
                             record::Decided, record::SessionBound, record::PlanWork, record::PlanChecked>;

struct IterationView {
  std::int64_t number = 0;
  std::optional<Milliseconds> duration;  // none if it did not end
  std::vector<RunStep> steps;            // in the order in which they began
};

struct RunView {
  std::optional<record::RunStarted> start;
  std::optional<record::RunEnded> end;
  std::vector<RunStep> before;            // what happened before the first iteration
  std::vector<IterationView> iterations;  // what happens between two belongs to the first of them
  Progress progress;                      // after all of it
  WallTime first_time{};                  // of the records
  std::int64_t records = 0, unknown_records = 0;

  // Adds the next record of the journal.
  void add(const record::Record& record);

  // How it ended (complete, limit, waiting, interrupted, fatal), "running", or "crashed" if it neither ended nor lives.
  std::string_view state(bool alive) const;
  // Why it is in that state, as a sentence; empty if there is nothing to say.
  std::string reason(bool alive) const;
  Milliseconds duration() const;  // as far as is known
  bool is_session() const { return start && start->way == WayIn::kSession; }
  // How many began; in a session loop, how often the session was sent on.
  std::int64_t iteration_count() const;
};

}  // namespace ralph
