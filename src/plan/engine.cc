#include "plan/engine.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "journal/raw_file.h"
#include "engine/guardrails.h"
#include "engine/iterations.h"
#include "engine/prompt.h"
#include "engine/scm_command.h"
#include "engine/scm_tasks.h"
#include "os/files.h"
#include "os/lock.h"
#include "plan/aftermath.h"
#include "plan/assignment.h"
#include "git/repository.h"
#include "plan/verdict.h"

namespace ralph {
namespace {

// An agent can name another work tree in the repository's settings, so git is told which one it is.
Git contained_git(RunContext& context, const std::string& work_tree) {
  return [&context, work_tree](const std::vector<std::string>& words) -> Result<GitEnd> {
    // Git runs programs that the project names, and an agent can name them: ralph needs none of them.
    ScmQuestion question;
    question.argv = {"git", "--literal-pathspecs", "--no-replace-objects", "-c", "core.hooksPath=/dev/null",
                     "-c",  "core.fsmonitor=false"};
    question.argv.insert(question.argv.end(), words.begin(), words.end());
    question.environment = {{"GIT_WORK_TREE", work_tree}};
    question.kept_output = kGitOutput;
    TRY_VALUE(ScmAnswer answer, ask_scm(context, question));
    return GitEnd{answer.end.status.code, std::move(answer.output), std::move(answer.errors), answer.cut};
  };
}

// The settings' guardrails and the plan's own commands, each command once.
std::vector<GuardrailSettings> checks_of(const Settings& settings, const StoryList& tasks) {
  std::vector<GuardrailSettings> checks = settings.guardrails;
  for (const std::string& command : tasks.verify_commands) {
    const bool there = std::any_of(checks.begin(), checks.end(),
                                   [&](const GuardrailSettings& check) { return check.command == command; });
    if (there) continue;
    GuardrailSettings check;
    check.command = command;
    check.timeout_seconds = settings.plan.verify_timeout_seconds;
    checks.push_back(std::move(check));
  }
  return checks;
}

class PlanEngine {
 public:
  explicit PlanEngine(PlanLoop loop)
      : loop_(std::move(loop)),
        context_(loop_.context),
        repository_(contained_git(context_, loop_.work_tree), loop_.files.project) {}

  Result<Decision> run() {
    const Result<Lock> lock = hold_plan();
    if (!lock) return conclude(context_, tl::unexpected(lock.error()));
    const Result<Decision> begin = start();
    if (!begin || begin->action == Action::kStop) return conclude(context_, begin);
    return run_iterations(context_, [this] { return iterate(); });
  }

 private:
  Result<Lock> hold_plan() const {
    TRY(make_room_for_plan(loop_.authority));
    auto lock = lock_plan(loop_.authority, loop_.files.ralph_dir);
    if (lock) TRY(lock->name_owner(fmt::format("run {}, pid {}\n", context_.run_id, loop_.marker.pid)));
    return lock;
  }

  // What the last run left open is settled first; and a plan that is done already is checked once, without an agent.
  Result<Decision> start() {
    TRY(write_marker());  // now, because checks may take long before the first iteration
    const bool all_done = count_done(tasks(), loop_.skip_review) == tasks().stories.size();
    const bool killed = loop_.unfinished && loop_.unfinished->open;
    if (!loop_.unfinished && !all_done) {
      TRY(note_checked({}));
      return Decision{};
    }
    rules_ = {Mode::kImplement, "", loop_.skip_review, loop_.review_cap, !killed};
    if (loop_.unfinished) {
      rules_.mode = loop_.unfinished->mode.value_or(Mode::kImplement);
      rules_.story = loop_.unfinished->story;
      loop_.marker.iteration = loop_.unfinished->iteration;
      pending_ = loop_.unfinished->pending;
    }
    if (!killed) TRY(save(Stage::kJudged));  // what was ended in the middle keeps its copy until it is judged
    TRY_VALUE(const Decision decision,
              finish_iteration(Decision{}, loop_.unfinished ? loop_.unfinished->head : std::string()));
    TRY(context_.log.note(record::IterationEnded{}));  // of no iteration: what it found is told to the first
    return decision;
  }

  Result<Decision> iterate() {
    const MonotonicTime started = context_.clock.monotonic();
    const int iteration = context_.log.progress().iteration + 1;
    const auto work = next_work(tasks(), loop_.skip_review);
    if (!work) return fail(ErrorKind::kInternal, "no story of {} can be worked on", loop_.files.tasks());
    rules_ = {work->mode, work->story->id, loop_.skip_review, loop_.review_cap};
    pending_.reset();
    TRY(context_.log.note(record::IterationStarted{iteration}));
    TRY(note_work(*work, iteration));
    TRY_VALUE(const std::string head, begin_iteration(*work, iteration));
    TRY_VALUE(const std::string prompt, prompt_for(*work, iteration));

    const Agents agents = loop_.agents[static_cast<size_t>(work->mode)];
    loop_.policy.agents.clear();
    for (const Agent& agent : agents) loop_.policy.agents.push_back(agent.name());
    TRY_VALUE(const Decision after_turn, take_turn(context_, agents, prompt, loop_.settings.stream_agent_output));

    TRY_VALUE(const Decision decision, finish_iteration(after_turn, head));
    const Milliseconds duration = context_.clock.monotonic() - started;
    TRY(context_.log.note(record::IterationEnded{iteration, duration.count()}));
    TRY(context_.log.sync());
    return decision;
  }

  const StoryList& tasks() const { return loop_.tasks.tasks; }

  Status note_work(const Work& work, int iteration) {
    record::PlanWork note;
    note.iteration = iteration;
    note.mode = to_string(work.mode);
    note.story = work.story->id;
    note.title = work.story->title;
    note.reviews = work.story->review.count;
    note.review_cap = loop_.review_cap;
    return context_.log.note(std::move(note));
  }

  // The marker, the copy outside, and the commit that it all starts from.
  Result<std::string> begin_iteration(const Work& work, int iteration) {
    loop_.marker.iteration = iteration;
    loop_.marker.iteration_mode = work.mode;
    loop_.marker.story = work.story->id;
    loop_.marker.snapshot = before_from(tasks());
    TRY_VALUE(head_, repository_.head());
    TRY_VALUE(const auto branch, repository_.branch());
    if (branch_.empty()) branch_ = branch.value_or("");
    note_base(work);
    TRY(write_marker());
    TRY(save(Stage::kOpen));
    return head_;
  }

  // The commit that a story's review compares tests with. What the last review did itself, nobody has reviewed.
  void note_base(const Work& work) {
    if (head_.empty()) return;
    if (work.mode == Mode::kReview) {
      reviewed_ = head_;
    } else {
      loop_.bases.emplace(work.story->id, reviewed_.empty() ? head_ : reviewed_);
    }
  }

  Status write_marker() {
    marker_text_ = to_text(loop_.marker);
    const std::string path = join_path(context_.project, kMarkerFile);
    if (is_directory(path)) ::rename(path.c_str(), unused_path(path + ".rejected-folder").c_str());
    return write_file_atomically(path, marker_text_);
  }

  // kOpen: an iteration is under way. kJudged: it was judged, and nothing may change any more but by an iteration; yet
  // programs of the project still run. kClosed: nothing runs.
  enum class Stage { kOpen, kJudged, kClosed };

  Status save(Stage stage) {
    SavedPlan plan;
    plan.run_id = context_.run_id;
    plan.project = loop_.files.project;
    plan.ralph_dir = loop_.files.ralph_dir;
    plan.iteration = loop_.marker.iteration;
    plan.open = stage != Stage::kClosed;
    plan.judged = stage == Stage::kJudged;
    plan.mode = stage == Stage::kJudged ? Mode::kImplement : rules_.mode;  // in which no story can be approved
    plan.head = head_;
    if (stage == Stage::kClosed) plan.pending = pending_;
    plan.story = rules_.story;
    plan.skip_review = loop_.skip_review;
    plan.review_cap = loop_.review_cap;
    plan.tasks = loop_.tasks.text;
    plan.pinned = loop_.pinned;
    plan.bases = loop_.bases;
    return save_plan(loop_.authority, plan);
  }

  Result<std::string> prompt_for(const Work& work, int iteration) {
    Assignment assignment{work.mode,
                          work.story,
                          &tasks(),
                          loop_.skip_review,
                          loop_.review_cap,
                          iteration,
                          context_.policy.max_iterations,
                          loop_.files.shown(loop_.files.ralph_dir),
                          {}};
    const auto base = loop_.bases.find(work.story->id);
    if (work.mode == Mode::kReview && base != loop_.bases.end()) {
      auto lost = repository_.lost_tests(base->second);
      assignment.tests =
          lost ? *std::move(lost)
               : std::vector{fmt::format("unknown: commit {}, which was there before this story, can't be "
                                         "compared with any more ({}); look at all tests",
                                         base->second.substr(0, 9), lost.error().message)};
    }
    const std::string prompt = plan_prompt(loop_.pinned.prompt.value_or(""), assignment);
    std::vector<Feedback> feedback = context_.log.progress().feedback;
    // A story that was sent back has what failed in its reviewFeedback, which the assignment quotes.
    std::erase_if(feedback, [&](const Feedback& one) {
      return work.mode == Mode::kReviewFix && work.story->review.feedback.find(one.message) != std::string::npos;
    });
    return compose_prompt(prompt, feedback);
  }

  std::string iteration_in_words() const {
    if (loop_.unfinished)
      return fmt::format("{} iteration {} of the last run", to_string(rules_.mode), loop_.unfinished->iteration);
    if (rules_.frozen) return {};
    return fmt::format("{} iteration {}", to_string(rules_.mode), context_.log.progress().iteration);
  }

  // After the agent: enforcement always, checks and the verdict unless the run is to stop at once.
  Result<Decision> finish_iteration(const Decision& after_turn, const std::string& head) {
    Aftermath aftermath(loop_.files, context_, repository_, iteration_in_words());
    Enforcement enforced = aftermath.enforce_plan(loop_.tasks, loop_.pinned, rules_);
    aftermath.check_marker(marker_text_);
    TRY(aftermath.write(enforced.file, loop_.pinned));
    if (after_turn.action == Action::kStop) {
      // Whoever wants it to stop at once does not wait for git either.
      history_checked_ = context_.log.progress().stop_requests < 2 && aftermath.check_history(head, branch_);
      return leave_unchecked(aftermath, enforced, after_turn);
    }
    TRY(aftermath.check_history(head, branch_));
    history_checked_ = true;
    TRY(aftermath.write(enforced.file, loop_.pinned));

    const auto checks = checks_of(loop_.settings, enforced.file.tasks);
    TRY_VALUE(const Decision after_checks,
              run_guardrails(context_, {checks, static_cast<size_t>(loop_.settings.output_truncate_chars)}));
    aftermath.check_unchanged(enforced.file, loop_.pinned, rules_, "while the checks ran");
    if (after_checks.action == Action::kStop) return leave_unchecked(aftermath, enforced, after_checks);

    if (pending_) resume(enforced, *pending_);
    Verdict verdict = settle(loop_.tasks, enforced, rules_, checks_end());
    verdict.changed = verdict.changed || pending_;
    pending_.reset();
    const StoryFile before = std::exchange(loop_.tasks, verdict.file);
    if (!verdict.story.empty() && !head.empty()) loop_.bases.emplace(verdict.story, head);
    TRY(save(
        Stage::kJudged));  // before it is written: who is killed in between finds the verdict, not the agent's word
    TRY(aftermath.write(verdict.file, loop_.pinned));
    if (const auto& left = loop_.unfinished) {
      const bool killed = left->open;
      aftermath.commit_leftovers(killed ? verdict.file.text : left->tasks, killed ? loop_.pinned : left->pinned);
    }
    loop_.unfinished.reset();
    TRY(aftermath.commit(verdict));
    const bool passed = checks_end().passed;
    TRY_VALUE(const Decision after_scm, run_scm(aftermath, checks));
    if (passed && !checks_end().passed) TRY(judge_again(aftermath, before, verdict));
    TRY(aftermath.check_uncommitted());
    TRY(have_the_last_word(aftermath, verdict));
    TRY(save(Stage::kClosed));
    if (context_.log.progress().response && count_done(tasks(), loop_.skip_review) < tasks().stories.size()) {
      aftermath.tell(fmt::format("<promise>{}</promise> was said too early: not all stories are done.",
                                 context_.policy.completion_response));
    }
    TRY(note_checked({verdict.story, verdict.outcome, &tasks(), &aftermath}));
    if (after_scm.action == Action::kStop) return after_scm;
    return ask(context_, {Moment::kAfterChecks});
  }

  // The run stops before the verdict. From here on the files are the user's; the next run makes the checks, and until
  // then no approval counts.
  Result<Decision> leave_unchecked(Aftermath& aftermath, const Enforcement& enforced, const Decision& stop) {
    if (auto step = pending_from(enforced)) pending_ = std::move(step);
    loop_.tasks = pending_ ? hold_back(enforced.file, loop_.tasks, *pending_) : enforced.file;
    if (history_checked_) head_.clear();
    TRY(save(Stage::kJudged));
    TRY(aftermath.write(loop_.tasks, loop_.pinned));
    TRY(aftermath.commit({}));
    if (pending_) {
      aftermath.note(fmt::format("the run stopped before {} could be checked; the next run makes the checks first",
                                 pending_->story));
    }
    TRY(note_checked({{}, {}, &tasks(), &aftermath}));
    TRY(save(Stage::kClosed));
    return stop;
  }

  Result<Decision> run_scm(Aftermath& aftermath, const std::vector<GuardrailSettings>& checks) {
    if (!loop_.settings.scm || !context_.log.progress().guardrails_failed.empty()) return Decision{};
    const Agents agents = loop_.agents[static_cast<size_t>(rules_.mode)];
    ScmPlan scm{*loop_.settings.scm, loop_.settings.stream_agent_output};
    if (!checks.empty()) {
      scm.check_again = [&]() -> Result<Decision> {
        TRY(put_back(aftermath));
        return run_guardrails(context_, {checks, static_cast<size_t>(loop_.settings.output_truncate_chars), true});
      };
    }
    return run_scm_tasks(context_, agent_to_start(context_, agents), scm);
  }

  // Checks that ran again, because something was changed after them, and fail now, outrank the verdict.
  Status judge_again(Aftermath& aftermath, const StoryFile& before, Verdict& verdict) {
    TRY(put_back(aftermath));
    Enforcement now;
    now.file = loop_.tasks;
    now.moved = verdict.story;
    now.step = verdict.outcome;
    verdict = settle(before, now, rules_, checks_end());
    loop_.tasks = verdict.file;
    TRY(save(Stage::kJudged));
    TRY(aftermath.write(loop_.tasks, loop_.pinned));
    return aftermath.commit(verdict);
  }

  Status put_back(Aftermath& aftermath) {
    aftermath.check_unchanged(loop_.tasks, loop_.pinned, rules_, "after it was judged");
    return aftermath.write(loop_.tasks, loop_.pinned);
  }

  // SCM tasks ask the agent for a message, and git runs what the project tells it to: none of it may change the plan.
  Status have_the_last_word(Aftermath& aftermath, const Verdict& verdict) {
    if (aftermath.check_unchanged(loop_.tasks, loop_.pinned, rules_, "after it was judged")) return {};
    TRY(aftermath.write(loop_.tasks, loop_.pinned));
    TRY(aftermath.commit(verdict));
    return aftermath.write(loop_.tasks, loop_.pinned);
  }

  ChecksEnd checks_end() const {
    ChecksEnd end;
    const Progress& progress = context_.log.progress();
    end.passed = progress.guardrails_failed.empty();
    std::vector<std::string> failures;
    for (const Feedback& feedback : progress.collecting) failures.push_back(feedback.message);
    end.failures = join(failures, "\n\n");
    return end;
  }

  struct Checked {
    std::string story, outcome;
    const StoryList* tasks = nullptr;  // nothing: those of the loop
    const Aftermath* aftermath = nullptr;
  };

  Status note_checked(const Checked& checked) {
    const StoryList& list = checked.tasks ? *checked.tasks : tasks();
    record::PlanChecked note;
    note.iteration = context_.log.progress().iteration;
    if (checked.aftermath) note.mode = to_string(rules_.mode);
    note.story = checked.story;
    note.outcome = checked.outcome;
    note.stories = static_cast<std::int64_t>(list.stories.size());
    note.done = static_cast<std::int64_t>(count_done(list, loop_.skip_review));
    for (const Story& story : list.stories) {
      if (is_done(story, loop_.skip_review)) continue;
      note.open.push_back(story.review.status == ReviewStatus::kNone
                              ? story.id
                              : fmt::format("{} ({})", story.id, to_string(story.review.status)));
    }
    if (checked.aftermath) {
      note.violations = checked.aftermath->violations();
      note.notes = checked.aftermath->notes();
      note.feedback = checked.aftermath->feedback();
    }
    return context_.log.note(std::move(note));
  }

  PlanLoop loop_;
  RunContext& context_;
  Repository repository_;
  ReviewRules rules_;
  std::string marker_text_, branch_, head_;
  std::string reviewed_;                // the commit that the last review began with
  std::optional<PendingStep> pending_;  // the step that waits for its checks
  bool history_checked_ = false;
};

}  // namespace

Result<Decision> run_plan_loop(PlanLoop loop) {
  return PlanEngine(std::move(loop)).run();
}

}  // namespace ralph
