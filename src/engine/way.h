// A way in: what an iteration is told, and what is looked at after it. Nothing else: numbers, records, turns, retries,
// waits, checks, SCM tasks, decisions and the end belong to the engine. A way never loops, and never decides.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/attempts.h"
#include "settings/settings.h"

namespace ralph {

// What an iteration is told.
struct NextTurn {
  std::string prompt;
  Agents agents;                              // the preferred one first
  bool events = true;                         // ask for a stream of events where the agent has one
  std::optional<Progress::Session> resume{};  // a session to go on with
  std::string told{};                         // in earlier turns of that session: repeating it is no answer
  std::string folder{};                       // where the agent works; empty: the project
  std::vector<std::pair<std::string, std::string>> environment{};  // more of it
  LaunchChange change{};                                           // a sandbox
};

// What is looked at after a turn.
struct IterationChecks {
  std::vector<GuardrailSettings> guardrails{};
  size_t excerpt_characters = 5000;  // of a failing check's output, in the next prompt
  const ScmSettings* scm = nullptr;  // run if all checks pass; none: there are no SCM tasks
  bool events = true;                // how an agent is asked for a commit message
};

class Way {
 public:
  virtual ~Way() = default;

  // Before the first iteration. With agents: what an earlier run left is to be checked first, without a turn; they are
  // those of its iteration.
  virtual Result<std::optional<Agents>> begin() { return std::optional<Agents>(); }

  // The iteration has begun.
  virtual Result<NextTurn> next() = 0;

  // The agent's turn is over. `decision`: what was decided of it; if it stops the run, no checks follow.
  virtual Status after_turn(const Decision& decision) { return static_cast<void>(decision), Status{}; }

  // Asked before the checks run, and again if they have to run again because files were changed after them.
  virtual Result<IterationChecks> checks() { return IterationChecks{}; }

  // The checks have run; SCM tasks follow unless `decision` stops the run.
  virtual Status after_checks(const Decision& decision) { return static_cast<void>(decision), Status{}; }

  // The iteration is over: what is decided on.
  virtual Result<Observation> observe() { return Observation{Moment::kAfterChecks}; }

  // Files whose appearance ends a wait or a turn.
  virtual std::vector<std::string> files() const { return {}; }
};

}  // namespace ralph
