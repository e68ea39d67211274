#include "engine/scm_tasks.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "engine/commit_message.h"
#include "engine/scm_command.h"
#include "engine/turn.h"
#include "git/checked_tree.h"
#include "git/git_places.h"
#include "git/nested.h"
#include "git/repository.h"
#include "git/tree_state.h"

namespace ralph {
namespace {

// The last line of an error says what is wrong; the first line of a success says what was done.
std::string note_from(const ScmCommandEnd& command) {
  const std::string text = to_valid_utf8(command.output);
  const std::vector<std::string> lines = split(trim(text), '\n');
  if (command.end.status.success()) return std::string(trim(lines.front()));
  const auto fatal = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.starts_with("fatal:") || line.starts_with("error:");
  });
  return std::string(trim(fatal == lines.end() ? lines.back() : *fatal));
}

// For the agent, which may be able to fix it: a hook that refuses a commit says why.
std::string scm_failure_message(const std::string& task, std::string_view why, const std::string& output) {
  constexpr size_t kShown = 5000;
  std::string text =
      fmt::format("The source control task \"{}\" failed after all guardrails had passed: {}", task, why);
  if (!trim(output).empty())
    text += fmt::format("\nOutput:\n{}", trim(prefix_of_characters(to_valid_utf8(output), kShown)));
  return text + "\nThe work is not complete until it succeeds; ralph tries it again after the next iteration.";
}

Status note_end(Run& run, const std::string& task, ScmOutcome outcome, std::string note, const StepEnd& end = {},
                std::string feedback = {}) {
  record::ScmEnded ended;
  ended.iteration = run.progress().iteration;
  ended.task = task;
  ended.outcome = outcome;
  ended.note = std::move(note);
  ended.feedback = std::move(feedback);
  ended.exit_code = end.status.code;
  ended.duration_ms = end.duration.count();
  return run.note(std::move(ended));
}

// With git, an unchanged tree is detected before asking the agent, because a needless request costs money. This is
// ralph's own query, which runs no program that the repository names.
Result<bool> nothing_to_commit(Run& run, const ScmSettings& scm) {
  if (!is_git(scm.command)) return false;
  return Repository(contained_git(run, scm.command)).is_clean(scm.add_all);  // commit -a omits new files
}

class ScmTasks {
 public:
  ScmTasks(Run& run, const Agent& agent, const ScmPlan& plan)
      : run_(run),
        agent_(agent),
        plan_(plan),
        repository_(contained_git(run, plan.scm.command), run.project),
        tree_(contained_git(run, plan.scm.command), join_path(run.project, ".ralph/runs/")) {}

  Result<Decision> run() {
    // Tasks that were done in this iteration before the run was interrupted.
    const std::vector<std::string> done = run_.progress().scm.done;
    for (size_t i = 0; i < plan_.scm.tasks.size(); ++i) {
      const std::string& task = plan_.scm.tasks[i];
      if (i < done.size() && done[i] == task) continue;
      if (is_commit(task)) {
        TRY_VALUE(const bool made, was_committed(task));
        if (made) continue;
        TRY_VALUE(const bool unchanged, nothing_to_commit(run_, plan_.scm));
        if (unchanged) {
          TRY_VALUE(const bool all, is_all_committed(task));
          if (!all) break;
          TRY(note_end(run_, task, ScmOutcome::kNothingToCommit, "nothing to commit"));
          continue;
        }
        TRY(watch());
        TRY_VALUE(const TurnEnd turn, ask_for_message());
        TRY_VALUE(const Decision decision, check_what_changed(true));
        if (decision.action != Action::kContinue) return decision;
        if (!checks_pass()) {
          TRY(note_end(run_, task, ScmOutcome::kFailed,
                       "the agent changed files when it was asked for the commit message, and the checks fail now"));
          return decision;
        }
        if (run_.progress().scm.message.empty()) {
          const std::string why = turn.outcome == TurnOutcome::kOk ? "its answer has no line to use" : turn.reason;
          TRY(note_failure(task, fmt::format("the agent gave no commit message: {}", why)));
          break;
        }
      }
      TRY(watch());
      if (plan_.before_task) TRY(plan_.before_task());  // the agent or a hook may have changed something
      TRY_VALUE(const bool go_on, run_task(task, run_.progress().scm.message));
      if (!go_on) break;
      TRY_VALUE(const Decision decision, run_.ask({Moment::kBetweenSteps}));
      if (decision.action != Action::kContinue) return decision;
    }
    return check_what_changed(false);
  }

 private:
  bool checks_pass() const { return run_.progress().guardrails_failed.empty(); }

  // Remembers the checked files before the first foreign program runs.
  Status watch() {
    if (watching_ || !plan_.check_again) return {};
    watching_ = true;
    return remember();
  }

  Status remember() { return is_git(plan_.scm.command) ? tree_.remember() : Status{}; }

  // Whether the commit that was in progress when the run was interrupted was made: HEAD has moved to it.
  Result<bool> was_committed(const std::string& task) {
    const Progress::Scm scm = run_.progress().scm;
    if (scm.task != task || scm.message.empty() || !is_git(plan_.scm.command)) return false;
    TRY_VALUE(const std::string head, repository_.head());
    if (head == scm.head) return false;
    TRY_VALUE(const std::string message, repository_.message());
    if (message != trim(scm.message)) return false;
    TRY(note_end(run_, task, ScmOutcome::kDone,
                 fmt::format("{} was made before the run was interrupted", head.substr(0, 9))));
    return true;
  }

  // Reuses a message that the agent gave before the run was interrupted.
  Result<TurnEnd> ask_for_message() {
    if (!run_.progress().scm.message.empty()) return TurnEnd{TurnOutcome::kOk, {}};
    TurnRequest request;
    request.prompt = kCommitMessageRequest;
    request.purpose = Purpose::kCommitMessage;
    request.events = plan_.events;
    return run_turn(run_, agent_, request);
  }

  Result<Decision> check_what_changed(bool if_unknown) {
    Observation now;
    now.moment = Moment::kBetweenSteps;
    if (watching_) {
      TRY_VALUE(const auto changed, tree_.changed());
      now.checks.outdated = changed.value_or(if_unknown);
    }
    TRY_VALUE(const Decision decision, run_.ask(now));
    if (decision.action != Action::kCheckAgain) return decision;
    TRY_VALUE(const Decision checked, plan_.check_again());
    TRY(remember());
    return checked;
  }

  Status note_failure(const std::string& task, const std::string& why, const ScmCommandEnd& command = {}) {
    const bool is_feedback = plan_.scm.on_failure == ScmFailure::kFeedback;
    return note_end(run_, task, ScmOutcome::kFailed, why, command.end,
                    is_feedback ? scm_failure_message(task, why, command.output) : "");
  }

  // An agent can forge an index that makes git treat a changed file as unchanged and leave it out of the commit. False
  // if that happened; the failure is then recorded.
  Result<bool> is_all_committed(const std::string& task) {
    if (!run_.index || !is_git(plan_.scm.command)) return true;
    TRY_VALUE(const auto changes, run_.index->changes(OwnIndex::Extent::kTracked));
    if (changes.empty()) return true;
    TRY_VALUE(const auto shown, repository_.uncommitted_paths());
    std::vector<std::string> hidden;
    std::string_view how = kHowToSeeIdent;
    for (const OwnIndex::Change& change : changes) {
      if (is_one_of(change.path, shown)) continue;
      hidden.push_back(change.path);
      if (!change.ident) how = kHowToSeeForged;
    }
    if (hidden.empty()) return true;
    TRY(note_failure(task, fmt::format("the commit does not have {} ({})", named_paths(hidden), how)));
    return false;
  }

  // A push must go to the same target as when the run began.
  Result<std::string> why_not(const std::string& task) const {
    if (const std::string why = what_nested_would_run(); !why.empty()) return why;
    const auto words = is_git(plan_.scm.command) && plan_.why_not_push ? words_of_push(task) : std::nullopt;
    if (!words) return std::string();
    TRY_VALUE(const std::string why, plan_.why_not_push(*words));
    if (why.empty()) return why;
    return fmt::format("it was not run: {}; put that back, or start a new run to push there", why);
  }

  // An agent can create a nested repository in the project. The user's own git command would run the programs it names
  // on the host.
  std::string what_nested_would_run() const {
    const auto git = is_git(plan_.scm.command) ? find_git_places(run_.project, this_machine()) : std::nullopt;
    if (!git) return "";
    const auto found = programs_of_nested(git->top, git->common_dir);
    if (!found)
      return fmt::format("cannot tell whether a repository within the project names programs: {}",
                         found.error().message);
    if (found->empty()) return "";
    return fmt::format(
        "git would run what a repository within the project names: {}; remove that, or let .gitignore name the folder",
        join(*found, ", "));
  }

  // False if it failed, so later tasks are skipped.
  Result<bool> run_task(const std::string& task, const std::string& message) {
    const std::vector<Argv> commands = scm_commands(plan_.scm.command, task, message, plan_.scm.add_all);
    for (const Argv& argv : commands) {
      TRY_VALUE(const std::string why_not_run, why_not(task));
      if (!why_not_run.empty()) {
        TRY(note_failure(task, why_not_run));
        return false;
      }
      record::ScmStarted started;
      started.iteration = run_.progress().iteration;
      started.task = task;
      started.argv = argv;
      if (is_commit(task) && is_git(plan_.scm.command)) {
        TRY_VALUE(started.head, repository_.head());
      }
      TRY(run_.note(std::move(started)));
      TRY(run_.sync());
      TRY_VALUE(const ScmCommandEnd command, run_scm_command(run_, argv));
      if (command.end.status.success()) {
        if (&argv != &commands.back()) continue;
        TRY_VALUE(const bool all, is_commit(task) ? is_all_committed(task) : Result<bool>(true));
        if (!all) return false;
        TRY(note_end(run_, task, ScmOutcome::kDone, note_from(command), command.end));
        continue;
      }
      if (is_commit(task) && says_nothing_to_commit(command.output)) {
        TRY_VALUE(const bool all, is_all_committed(task));
        if (!all) return false;
        TRY(note_end(run_, task, ScmOutcome::kNothingToCommit, "nothing to commit", command.end));
        return true;
      }
      const std::string why = command.end.reason.empty() ? note_from(command) : command.end.reason;
      TRY(note_failure(task, why, command));
      return false;
    }
    return true;
  }

  Run& run_;
  const Agent& agent_;
  const ScmPlan& plan_;
  Repository repository_;
  CheckedTree tree_;
  bool watching_ = false;
};

}  // namespace

Result<Decision> run_scm_tasks(Run& run, const Agent& agent, const ScmPlan& plan) {
  return ScmTasks(run, agent, plan).run();
}

}  // namespace ralph
