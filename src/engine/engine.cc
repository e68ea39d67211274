#include "engine/engine.h"

#include <map>

#include "agents/version.h"
#include "engine/checks.h"
#include "engine/diagnose.h"
#include "engine/reasons.h"
#include "engine/resume.h"
#include "engine/scm_command.h"
#include "engine/scm_tasks.h"
#include "engine/trigger_watch.h"
#include "engine/watch.h"
#include "git/loose_head.h"
#include "settings/kept_settings.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

class Engine {
 public:
  Engine(Run& run, Way& way) : run_(run), way_(way), watch_(run), triggers_(run) {}

  Result<Decision> until_stopped() {
    run_.look_with([this](Observation& now) { way_.look(now); });
    run_.handle_events_with([this](const Event& event) { return way_.handle_event(event); });
    if (!run_.progress().completed.empty()) return complete_already();
    TRY(run_.await_files(way_.files(), [this] { return way_.file_arrived(); }));
    find_scm_program(run_);
    TRY_VALUE(const std::vector<std::string> restored, triggers_.after_kill());  // before anything in the project runs
    if (way_.watches_triggers()) TRY(triggers_.begin());
    if (run_.is_in_project()) settings_ = KeptSettings(run_.project);
    TRY_VALUE(const std::optional<Agents> left, way_.begin());
    TRY(watch_.begin());
    if (!restored.empty()) TRY(way_.put_back(restored));
    TRY(run_.sync());  // otherwise a forged end of the run could hide which files are watched
    if (run_.is_resumed()) TRY(look_at_files(StepKind::kAgent));  // for changes since the last process
    TRY_VALUE(const Decision baselined, run_baselines(run_, way_.baselines()));
    if (baselined.stops()) return baselined;
    TRY_VALUE(outset_, take_outset(run_));
    TRY_VALUE(const Decision diagnosed, run_first_diagnostics(run_, outset_));
    if (diagnosed.stops()) return diagnosed;
    TRY_VALUE(const Decision before, finish_what_was_left(left));
    if (before.stops()) return before;
    for (;;) {
      const Observation seen = run_.look({Moment::kBeforeIteration});
      TRY_VALUE(const Decision begin, run_.ask({Moment::kBeforeIteration}));
      if (begin.stops()) return begin;
      if (begin.action == Action::kWait) {
        TRY(pause_until_news(run_, begin.delay, seen));
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
    ended.resume = command_to_resume(status);
    if (run_.is_in_project()) ended.commit = checked_out_commit(run_.project);
    for (const auto& [name, agent] : may_start_) {
      if (const std::string version = version_of(*agent, run_.environment, run_.project); !version.empty())
        ended.versions[name] = version;
    }
    TRY(run_.note(std::move(ended)));
    return run_.sync();
  }

  // Empty if there is nothing to resume.
  std::string command_to_resume(StopStatus status) const {
    if (status == StopStatus::kComplete) return {};
    if (run_.progress().last_rule == kRepositoryGone) return {};  // it would continue without the commits
    const std::string own = way_.resume_command();
    return own.empty() && run_.has_seal() ? resume_command(run_, status) : own;
  }

 private:
  // Completes a run that was killed when only its last records were missing.
  Result<Decision> complete_already() {
    const Progress& progress = run_.progress();
    Decision decision{Action::kStop, StopStatus::kComplete, progress.last_rule, progress.completed};
    complete_ = true;
    if (!progress.iteration_open) return decision;
    return end_iteration(decision);
  }

  // Finishes the open iteration of a resumed run, or checks the work of an earlier run without a turn.
  Result<Decision> finish_what_was_left(std::optional<Agents> to_check) {
    if (to_check) {
      set_agents(*to_check);
      TRY_VALUE(const Decision decision, finish_iteration(Decision{}));
      if (run_.progress().iteration_open) return end_iteration(decision);
      // Not of an iteration: the first one gets the failures as feedback. Checks that were cut short replace nothing.
      if (complete_) TRY(run_.note(record::IterationEnded{}));
      return decision;
    }
    if (!run_.progress().iteration_open) return Decision{};
    if (!run_.progress().iteration_is_judged()) return take_turn_and_finish();
    complete_ = true;
    TRY_VALUE(const Decision decision, run_.ask({Moment::kAfterChecks}));
    return end_iteration(decision);
  }

  Result<Decision> iterate() {
    TRY(run_.note(record::IterationStarted{run_.progress().iteration + 1}));
    return take_turn_and_finish();
  }

  Result<Decision> take_turn_and_finish() {
    TRY_VALUE(const NextTurn next, way_.next());
    if (next.stopped) return *next.stopped;
    set_agents(next.agents);
    TRY_VALUE(const Decision after_turn, take_turn(run_, next));
    if (run_.is_in_project()) TRY(restore_ralph_files());
    TRY_VALUE(const Decision decision, finish_iteration(after_turn));
    return end_iteration(decision);
  }

  // An agent may have removed them while tidying up. Without .ralph/.gitignore, a commit would include ralph's files;
  // without the settings, the run can't be resumed.
  Status restore_ralph_files() {
    TRY(restore_ralph_folder(run_.project));
    TRY_VALUE(const std::vector<std::string> restored, settings_.put_back_missing());
    for (const std::string& file : restored)
      run_.listener.on_detail(fmt::format("{} was missing and has been restored", file));
    return {};
  }

  Result<Decision> end_iteration(const Decision& decision) {
    if (!complete_) return decision;
    const Milliseconds took = run_.time_spent() - run_.progress().iteration_began;
    TRY(run_.note(record::IterationEnded{run_.progress().iteration, std::max<Milliseconds::rep>(took.count(), 0)}));
    TRY(run_.sync());
    return decision;
  }

  // What follows a turn: checks, SCM tasks and the decision. An iteration that is cut short before its checks end is
  // incomplete: the feedback of the previous iteration still applies.
  Result<Decision> finish_iteration(const Decision& after_turn) {
    complete_ = false;
    TRY(look(StepKind::kAgent));
    Decision turn = after_turn;
    if (!turn.stops() && !run_.progress().watch.held.empty()) {
      TRY_VALUE(turn, run_.ask({Moment::kBetweenSteps}));
    }
    TRY(way_.after_turn(turn));
    if (turn.stops()) return turn;
    TRY_VALUE(const IterationChecks checks, way_.checks());
    TRY_VALUE(const Decision checked, run_all_checks(checks, false));
    TRY(look(StepKind::kGuardrail));
    TRY(way_.after_checks(checked));
    if (checked.stops()) return checked;
    TRY_VALUE(const Decision after_scm, scm_tasks(checks));
    TRY_VALUE(Observation observation, way_.observe());
    if (after_scm.stops()) return after_scm;
    complete_ = true;
    observation.journal = run_.journal_fault();
    return run_.ask(observation);
  }

  Result<Decision> scm_tasks(const IterationChecks& checks) {
    if (!checks.scm || !run_.progress().guardrails_failed.empty() || !run_.progress().watch.held.empty())
      return Decision{};
    ScmPlan plan{*checks.scm, checks.events};
    if (!checks.guardrails.empty() || run_.policy.has_criteria()) plan.check_again = [this] { return check_again(); };
    plan.before_task = [this] { return look_at_triggers(StepKind::kAgent); };
    plan.why_not_push = [this](const std::vector<std::string>& words) { return triggers_.why_not_push(words); };
    TRY_VALUE(const Decision after_scm, run_scm_tasks(run_, agent_to_start(run_, agents_), plan));
    TRY(look(StepKind::kScm));
    return after_scm;
  }

  // Called after the agent was asked for a commit message, or a hook ran.
  Result<Decision> check_again() {
    TRY(look(StepKind::kAgent));
    TRY_VALUE(const IterationChecks checks, way_.checks());
    return run_all_checks(checks, true);
  }

  Result<Decision> run_all_checks(const IterationChecks& checks, bool again) {
    TRY_VALUE(const Decision checked,
              run_checks(run_, {checks.guardrails, checks.excerpt_characters, again, checks.change}));
    if (checked.stops()) return checked;
    if (!checks.diagnostics) return Decision{};
    return run_diagnostics(run_, outset_, checks.change);
  }

  Status look_at_triggers(StepKind after) {
    TRY_VALUE(const std::vector<std::string> restored, triggers_.look(after));
    return restored.empty() ? Status{} : way_.put_back(restored);
  }

  Status look(StepKind after) {
    TRY(look_at_triggers(after));
    return look_at_files(after);
  }

  Status look_at_files(StepKind after) {
    TRY_VALUE(const std::vector<std::string> restored, watch_.look(after));
    return restored.empty() ? Status{} : way_.put_back(restored);
  }

  void set_agents(Agents agents) {
    agents_ = agents;
    for (const Agent& agent : agents) may_start_[agent.name()] = &agent;
    run_.policy.agents.clear();
    for (const Agent& agent : agents) run_.policy.agents.push_back(agent.name());
  }

  Run& run_;
  Way& way_;
  Watch watch_;
  TriggerWatch triggers_;
  KeptSettings settings_;
  diagnostics::Outset outset_;
  Agents agents_;
  std::map<std::string, const Agent*> may_start_;
  bool complete_ = false;  // the iteration ran to its end
};

}  // namespace

Result<Decision> drive(Run& run, Way& way) {
  Engine engine(run, way);
  Result<Decision> decision = engine.until_stopped();
  // A query to git was interrupted with everything else. The user's request to stop decides, not the failed query.
  if (!decision && decision.error().kind == ErrorKind::kInterrupted) {
    if (Result<Decision> asked = run.ask({Moment::kBetweenSteps}); asked && asked->stops()) decision = std::move(asked);
  }
  if (decision) {
    if (Status finished = way.finish(*decision); !finished) decision = tl::unexpected(std::move(finished).error());
  } else {
    // Processes that the way started must end, whatever went wrong.
    static_cast<void>(way.finish({Action::kStop, StopStatus::kFatal, {}, decision.error().message}));
  }
  if (!decision) {
    const Status noted = engine.note_end(StopStatus::kFatal, decision.error().message);
    // On a full disk the note fails too; then the error says how to resume. A run whose journal somebody else changed
    // can't be resumed.
    const bool can_go_on = !noted && decision.error().kind == ErrorKind::kIo;
    const std::string command = can_go_on ? engine.command_to_resume(StopStatus::kFatal) : "";
    if (command.empty()) return decision;
    return fail(decision.error().kind, "{}; then, to go on: {}", decision.error().message, command);
  }
  TRY(engine.note_end(decision->status, decision->reason));
  return decision;
}

}  // namespace ralph
