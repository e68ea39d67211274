#include "engine/engine.h"

#include "engine/checks.h"
#include "engine/resume.h"
#include "engine/scm_tasks.h"
#include "engine/watch.h"
#include "git/repository.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

class Engine {
 public:
  Engine(Run& run, Way& way) : run_(run), way_(way), watch_(run) {}

  Result<Decision> until_stopped() {
    run_.look_with([this](Observation& now) { way_.look(now); });
    run_.heed_with([this](const Event& event) { return way_.heed(event); });
    if (!run_.progress().completed.empty()) return complete_already();
    TRY(run_.await_files(way_.files(), [this] { return way_.file_arrived(); }));
    TRY_VALUE(const std::optional<Agents> left, way_.begin());
    TRY(watch_.begin());
    TRY_VALUE(const Decision baselined, run_baselines(run_, way_.baselines()));
    if (baselined.stops()) return baselined;
    TRY_VALUE(const Decision before, finish_what_was_left(left));
    if (before.stops()) return before;
    for (;;) {
      TRY_VALUE(const Decision begin, run_.ask({Moment::kBeforeIteration}));
      if (begin.stops()) return begin;
      if (begin.action == Action::kWait) {
        TRY(pause_until_news(run_, begin.delay));
        continue;
      }
      TRY_VALUE(const Decision end, iterate());
      if (end.stops()) return end;
    }
  }

  Status note_end(StopStatus status, const std::string& reason) {
    record::RunEnded ended;
    ended.status = status;
    ended.reason = reason;
    ended.exit_code = exit_code_of(status);
    ended.iterations = run_.progress().iteration;
    ended.duration_ms = run_.time_spent().count();
    ended.tokens = run_.progress().tokens.total();
    ended.cost_usd = run_.progress().cost_usd;
    ended.resume = resume_command(run_, status);
    if (run_.is_in_project()) ended.commit = Repository(plain_git(run_.project), run_.project).head().value_or("");
    const std::string own = way_.resume_command();
    if (!own.empty()) ended.resume = status == StopStatus::kComplete ? "" : own;
    TRY(run_.note(std::move(ended)));
    // A task has DONE for a proof: nobody has to wait for the disk.
    return run_.is_in_project() ? run_.sync() : Status{};
  }

 private:
  // A run that was killed when only its last records were missing.
  Result<Decision> complete_already() {
    const Progress& progress = run_.progress();
    Decision decision{Action::kStop, StopStatus::kComplete, progress.last_rule, progress.completed};
    complete_ = true;
    if (!progress.iteration_open) return decision;
    return end_iteration(decision);
  }

  // The iteration that a resumed run was in, or the work of an earlier run that is checked without a turn.
  Result<Decision> finish_what_was_left(std::optional<Agents> to_check) {
    iteration_began_ = run_.clock.monotonic();
    if (to_check) {
      set_agents(*to_check);
      TRY_VALUE(const Decision decision, finish_iteration(Decision{}));
      if (run_.progress().iteration_open) return end_iteration(decision);
      TRY(run_.note(record::IterationEnded{}));  // without an iteration: the first one gets the failures as feedback
      return decision;
    }
    if (!run_.progress().iteration_open) return Decision{};
    if (!run_.progress().iteration_is_judged()) return take_turn_and_finish();
    complete_ = true;
    TRY_VALUE(const Decision decision, run_.ask({Moment::kAfterChecks}));
    return end_iteration(decision);
  }

  Result<Decision> iterate() {
    iteration_began_ = run_.clock.monotonic();
    TRY(run_.note(record::IterationStarted{run_.progress().iteration + 1}));
    return take_turn_and_finish();
  }

  Result<Decision> take_turn_and_finish() {
    TRY_VALUE(const NextTurn next, way_.next());
    set_agents(next.agents);
    TRY_VALUE(const Decision after_turn, take_turn(run_, next));
    if (run_.is_in_project())
      TRY(prepare_ralph_folder(run_.project));  // the agent may have removed it; without it, a commit has ralph's files
    TRY_VALUE(const Decision decision, finish_iteration(after_turn));
    return end_iteration(decision);
  }

  Result<Decision> end_iteration(const Decision& decision) {
    if (!complete_) return decision;
    TRY(run_.note(record::IterationEnded{run_.progress().iteration, run_.since(iteration_began_).count()}));
    TRY(run_.sync());
    return decision;
  }

  // After the turn: checks, SCM tasks and the decision. An iteration that was cut short before its checks ended is
  // incomplete: the feedback of the previous iteration still applies.
  Result<Decision> finish_iteration(const Decision& after_turn) {
    complete_ = false;
    TRY(look(StepKind::kAgent));
    TRY(way_.after_turn(after_turn));
    if (after_turn.stops()) return after_turn;
    TRY_VALUE(const IterationChecks checks, way_.checks());
    TRY_VALUE(const Decision checked, run_checks(run_, {checks.guardrails, checks.excerpt_characters}));
    TRY(look(StepKind::kGuardrail));
    TRY(way_.after_checks(checked));
    if (checked.stops()) return checked;
    TRY_VALUE(const Decision after_scm, scm_tasks(checks));
    TRY(look(StepKind::kScm));
    TRY_VALUE(const Observation observation, way_.observe());
    if (after_scm.stops()) return after_scm;
    complete_ = true;
    return run_.ask(observation);
  }

  Result<Decision> scm_tasks(const IterationChecks& checks) {
    if (!checks.scm || !run_.progress().guardrails_failed.empty() || !run_.progress().watch.held.empty())
      return Decision{};
    ScmPlan plan{*checks.scm, checks.events};
    if (!checks.guardrails.empty()) plan.check_again = [this] { return check_again(); };
    return run_scm_tasks(run_, agent_to_start(run_, agents_), plan);
  }

  // The agent was asked for a commit message, or a hook ran, before this.
  Result<Decision> check_again() {
    TRY(look(StepKind::kAgent));
    TRY_VALUE(const IterationChecks checks, way_.checks());
    return run_checks(run_, {checks.guardrails, checks.excerpt_characters, true});
  }

  Status look(StepKind after) {
    TRY_VALUE(const std::vector<std::string> restored, watch_.look(after));
    return restored.empty() ? Status{} : way_.put_back(restored);
  }

  void set_agents(Agents agents) {
    agents_ = agents;
    run_.policy.agents.clear();
    for (const Agent& agent : agents) run_.policy.agents.push_back(agent.name());
  }

  Run& run_;
  Way& way_;
  Watch watch_;
  Agents agents_;
  MonotonicTime iteration_began_{};
  bool complete_ = false;  // the iteration has run to its end
};

}  // namespace

Result<Decision> drive(Run& run, Way& way) {
  Engine engine(run, way);
  Result<Decision> decision = engine.until_stopped();
  if (decision) {
    if (Status finished = way.finish(*decision); !finished) decision = tl::unexpected(std::move(finished).error());
  } else {
    // What the way started must end, whatever went wrong.
    static_cast<void>(way.finish({Action::kStop, StopStatus::kFatal, {}, decision.error().message}));
  }
  if (!decision) {
    // On a full disk this note fails too; the user gets the error itself.
    static_cast<void>(engine.note_end(StopStatus::kFatal, decision.error().message));
    return decision;
  }
  TRY(engine.note_end(decision->status, decision->reason));
  return decision;
}

}  // namespace ralph
