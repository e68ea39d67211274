// A way into ralph (run, plan, loop, task): provides the prompt of an iteration and the checks after it. The engine
// does the rest: records, turns, retries, waits, checks, SCM tasks, decisions and the end. A way never loops and never
// decides.
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
  Agents agents;                              // preferred one first
  bool events = true;                         // ask for a stream of events if the agent has one
  std::optional<Progress::Session> resume{};  // a session to continue
  std::string earlier_prompts{};              // earlier prompts of that session: echoing them is not an answer
  std::string folder{};                       // where the agent works; empty: the project
  std::vector<std::pair<std::string, std::string>> environment{};  // added to the run's
  LaunchChange change{};                                           // a sandbox
  bool keep_words = false;                                         // record the agent's final message
  TurnRecorder* recorder = nullptr;
  std::optional<Decision> stopped{};  // a step before the turn decided to stop the run: the turn is skipped
};

// The checks and SCM tasks after a turn.
struct IterationChecks {
  std::vector<GuardrailSettings> guardrails{};
  size_t excerpt_characters = 5000;  // of a failing check's output, in the next prompt
  const ScmSettings* scm = nullptr;  // run if all checks pass; nullptr: no SCM tasks
  bool events = true;                // as in NextTurn, for the commit message
  LaunchChange change{};             // where the guardrails run, if not in the project
  bool diagnostics = true;           // judge the run's criteria, if it has any
};

class Way {
 public:
  virtual ~Way() = default;

  // Called before the first iteration. If it returns agents, the work of an earlier run is checked first, without a
  // turn, with these as the iteration's agents.
  virtual Result<std::optional<Agents>> begin() { return std::optional<Agents>(); }

  // Called before the first iteration: the checks, of which those with `baseline` run once before any agent.
  virtual std::span<const GuardrailSettings> baselines() const { return {}; }

  // Whether to watch files that make other programs run code. A run inside another one leaves that to the outer run.
  virtual bool watches_triggers() const { return true; }

  // Called when an iteration has begun.
  virtual Result<NextTurn> next() = 0;

  // Called after the agent's turn. If `decision` stops the run, no checks follow.
  virtual Status after_turn(const Decision& decision) { return static_cast<void>(decision), Status{}; }

  // Called when ralph has restored files that an agent must not change, with their paths in the project. A way that
  // commits ralph's own changes does so here.
  virtual Status put_back(const std::vector<std::string>& paths) { return static_cast<void>(paths), Status{}; }

  // Called before the checks run, and again if they must be repeated because files changed after them.
  virtual Result<IterationChecks> checks() { return IterationChecks{}; }

  // Called after the checks. SCM tasks follow unless `decision` stops the run.
  virtual Status after_checks(const Decision& decision) { return static_cast<void>(decision), Status{}; }

  // Called at the end of an iteration: the observation to decide on.
  virtual Result<Observation> observe() { return Observation{Moment::kAfterChecks}; }

  // The awaited files, and whether one has arrived, which ends a wait or a turn. By default any existing file counts.
  virtual std::vector<std::string> files() const { return {}; }
  virtual bool file_arrived() const;

  // Called for every decision: adds observations that only this way can make.
  virtual void look(Observation& now) const { static_cast<void>(now); }

  // Called with every event that is not output: a request from outside, the end of a job.
  virtual Status handle_event(const Event& event) { return static_cast<void>(event), Status{}; }

  // The command that resumes the run; empty: `ralph runs resume`.
  virtual std::string resume_command() const { return {}; }

  // Called when the end of the run is decided, before it is recorded.
  virtual Status finish(const Decision& decision) { return static_cast<void>(decision), Status{}; }
};

}  // namespace ralph
