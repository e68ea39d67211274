// A way in: provides the prompt of an iteration and the checks after it. Records, turns, retries, waits, checks, SCM
// tasks, decisions and the end belong to the engine. A way never loops and never decides.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/attempts.h"
#include "settings/settings.h"

namespace ralph {

// The agent's turn of an iteration.
struct NextTurn {
  std::string prompt;
  Agents agents;                              // the preferred one first
  bool events = true;                         // ask for a stream of events if the agent has one
  std::optional<Progress::Session> resume{};  // a session to continue
  std::string told{};                         // earlier texts to that session: echoing them is no answer
  std::string folder{};                       // where the agent works; empty: the project
  std::vector<std::pair<std::string, std::string>> environment{};  // added to the run's
  LaunchChange change{};                                           // a sandbox
  bool keep_words = false;                                         // record the agent's final message
  TurnRecorder* recorder = nullptr;
  std::optional<Decision> stopped{};  // a step before the turn was the last one: the run stops, without the turn
};

// The checks and SCM tasks after a turn.
struct IterationChecks {
  std::vector<GuardrailSettings> guardrails{};
  size_t excerpt_characters = 5000;  // of a failing check's output, in the next prompt
  const ScmSettings* scm = nullptr;  // run if all checks pass; nullptr: no SCM tasks
  bool events = true;                // as in NextTurn, for the commit message
  LaunchChange change{};             // where the guardrails work, if not in the project
  bool diagnostics = true;           // the criteria of the run are judged, if it has some
};

class Way {
 public:
  virtual ~Way() = default;

  // Called before the first iteration. If it returns agents, the work of an earlier run is checked first, without a
  // turn; the agents are those of its iteration.
  virtual Result<std::optional<Agents>> begin() { return std::optional<Agents>(); }

  // Called before the first iteration: the checks that are run once before any agent, if they say so.
  virtual std::span<const GuardrailSettings> baselines() const { return {}; }

  // Whether files that make other programs run code are watched. A run below another one leaves that to it.
  virtual bool watches_triggers() const { return true; }

  // Called when an iteration has begun.
  virtual Result<NextTurn> next() = 0;

  // Called after the agent's turn. If `decision` stops the run, no checks follow.
  virtual Status after_turn(const Decision& decision) { return static_cast<void>(decision), Status{}; }

  // Called when ralph has put back files that an agent must not change, paths in the project: a way that commits
  // ralph's own changes does so.
  virtual Status put_back(const std::vector<std::string>& paths) { return static_cast<void>(paths), Status{}; }

  // Called before the checks run, and again if they must be repeated because files changed after them.
  virtual Result<IterationChecks> checks() { return IterationChecks{}; }

  // Called after the checks. SCM tasks follow unless `decision` stops the run.
  virtual Status after_checks(const Decision& decision) { return static_cast<void>(decision), Status{}; }

  // Called at the end of an iteration: the observation to decide on.
  virtual Result<Observation> observe() { return Observation{Moment::kAfterChecks}; }

  // Files that are watched, and whether what is awaited is there, which ends a wait or a turn.
  virtual std::vector<std::string> files() const { return {}; }
  virtual bool file_arrived() const;

  // Called for every decision: adds what only this way sees.
  virtual void look(Observation& now) const { static_cast<void>(now); }

  // Called with every event that is no output: a request from outside, the end of a job.
  virtual Status heed(const Event& event) { return static_cast<void>(event), Status{}; }

  // The command that goes on with the run; empty: `ralph runs resume`.
  virtual std::string resume_command() const { return {}; }

  // Called when the end of the run is decided, before it is recorded.
  virtual Status finish(const Decision& decision) { return static_cast<void>(decision), Status{}; }
};

}  // namespace ralph
