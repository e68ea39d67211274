// A run as a structure: its progress, and the steps of each iteration. Built from the records of one journal. Pure, and
// robust against a journal that begins or ends anywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/progress.h"

namespace ralph {

// A step with a start and an end. Without an end it was running when the journal stopped.
template <class Started, class Ended>
struct StepOf {
  Started started;
  std::optional<Ended> ended;
};
using AgentTurn = StepOf<record::AgentStarted, record::AgentEnded>;
using GuardrailCheck = StepOf<record::GuardrailStarted, record::GuardrailEnded>;
using ScmTask = StepOf<record::ScmStarted, record::ScmEnded>;

using RunStep = std::variant<AgentTurn, GuardrailCheck, ScmTask, record::ProcessesSwept, record::SandboxNoted,
                             record::SignalReceived, record::Decided, record::SessionBound, record::SessionEnded,
                             record::PlanWork, record::PlanChecked, record::RunResumed, record::FilesWatched,
                             record::FilesChanged, record::TriggersWatched, record::TriggersChanged, record::Diagnosed>;

struct IterationView {
  std::int64_t number = 0;
  std::optional<Milliseconds> duration;  // nullopt: it did not end
  std::vector<RunStep> steps;            // in the order in which they began
};

struct RunView {
  std::optional<record::RunStarted> start;
  std::optional<record::RunEnded> end;
  std::vector<RunStep> before;            // before the first iteration
  std::vector<IterationView> iterations;  // steps between two iterations belong to the first
  Progress progress;                      // after the last record
  WallTime first_time{};                  // of the records
  std::int64_t records = 0, unknown_records = 0;
  bool unreadable = false;  // its journal: a pipe, or owned by another user

  // Adds the next record of the journal.
  void add(const record::Record& record);

  // How it ended (complete, limit, waiting, interrupted, fatal), "running", or "crashed" if it died without an end.
  std::string_view state(bool alive) const;
  // The reason for that state, as a sentence; may be empty.
  std::string reason(bool alive) const;
  Milliseconds duration() const;  // as far as known
  // Whether another process can resume it.
  bool is_resumable(bool alive) const;
  bool is_session() const { return start && start->way == WayIn::kSession; }
  // How many iterations began; in a session loop, how often the session was continued.
  std::int64_t iteration_count() const;
};

}  // namespace ralph
