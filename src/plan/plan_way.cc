#include "plan/plan_way.h"

#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "engine/prompt.h"
#include "engine/scm_command.h"
#include "os/files.h"
#include "plan/statistics.h"

namespace ralph {

// The stages of an iteration. Each row lists what to establish on entry, from left to right. If ralph is killed between
// stages, the next run continues from the last saved copy.
enum class PlanWay::Stage { kOpen, kFrozen, kEnforced, kRestored, kHeld, kJudged, kClosed };

namespace {

enum class Files { kLeft, kWritten, kCommitted };

struct StageRow {
  std::string_view when;
  std::optional<SavedPlan::State> copy;  // the new state of ralph's own copy; nullopt: unchanged
  Files files;                           // what to do with the plan's files in the project
};

// By Stage. The copy is saved before the files are written: if we are killed here, the next run finds the verdict.
constexpr std::array<StageRow, 7> kStages = {{
    {"kOpen: an agent is about to start", SavedPlan::State::kOpen, Files::kLeft},
    {"kFrozen: only checks are about to run", SavedPlan::State::kJudged, Files::kLeft},
    {"kEnforced: the agent has ended; what it may not change is put back", std::nullopt, Files::kWritten},
    {"kRestored: a program changed the plan after it was judged", std::nullopt, Files::kCommitted},
    {"kHeld: the run stops before the checks; an approval is held back", SavedPlan::State::kJudged, Files::kCommitted},
    {"kJudged: the checks have run and the story has its verdict", SavedPlan::State::kJudged, Files::kCommitted},
    {"kClosed: nothing runs; the files are the user's", SavedPlan::State::kClosed, Files::kLeft},
}};

// The guardrails of the settings and the plan's own commands, without duplicates.
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

}  // namespace

PlanWay::PlanWay(Run& run, PlanRun plan, std::array<Agents, 3> agents, Marker marker)
    : run_(run),
      plan_(std::move(plan)),
      agents_(agents),
      marker_(std::move(marker)),
      repository_(contained_git(run, "git", plan_.work_tree), plan_.files.project),
      tree_(run, repository_, plan_.files, plan_.work_tree) {}

Status PlanWay::enter(Stage stage) {
  const StageRow& row = kStages[static_cast<size_t>(stage)];
  if (row.copy) TRY(save(*row.copy));
  if (row.files == Files::kLeft) return {};
  TRY(aftermath_->write(plan_.tasks, plan_.pinned));
  return row.files == Files::kCommitted ? aftermath_->commit(verdict_) : Status{};
}

Status PlanWay::save(SavedPlan::State state) {
  TRY(run_.sync());  // the copy names the journal's last record
  SavedPlan plan;
  plan.run_id = run_.id;
  plan.project = plan_.files.project;
  plan.ralph_dir = plan_.files.ralph_dir;
  plan.journal = run_.journal_hash();
  plan.iteration = marker_.iteration;
  plan.open = state != SavedPlan::State::kClosed;
  plan.judged = state == SavedPlan::State::kJudged;
  plan.mode = plan.judged ? Mode::kImplement : rules_.mode;  // a mode in which no story can be approved
  plan.story = rules_.story;
  plan.skip_review = plan_.skip_review();
  plan.review_cap = plan_.review_cap();
  plan.tasks = plan_.tasks.text;
  plan.pinned = plan_.pinned;
  return save_plan(plan_.authority, plan);
}

Status PlanWay::hold_plan() {
  TRY(make_room_for_plan(plan_.authority));
  TRY_VALUE(lock_, lock_plan(plan_.authority, plan_.files.ralph_dir));
  // Those in the project would be committed.
  for (const std::string& path : {plan_.authority, join_path(run_.project, kMarkerFile), plan_.files.tasks(),
                                  plan_.files.prd(), plan_.files.prompt(), plan_.files.progress()})
    remove_unfinished_writes(path);
  return lock_->name_owner(fmt::format("run {}, pid {}\n", run_.id, marker_.pid));
}

// Settles what the last run left open; a plan that is already done is checked once, without an agent.
Result<std::optional<Agents>> PlanWay::begin() {
  TRY(hold_plan());
  for (const std::string& command : tasks().verify_commands) run_.policy.check_commands.push_back(command);
  TRY(write_marker());  // now, because checks before the first iteration may take long
  if (!run_.is_resumed()) {
    record::PlanBegan began;
    TRY_VALUE(TreeState tree, tree_.look());
    began.uncommitted = std::move(tree.uncommitted);
    TRY(run_.note(std::move(began)));
  }
  reviewed_ = run_.progress().plan.reviewed;
  // The iteration that a resumed run was in goes on by itself if its turn is to be taken, or was taken and not looked
  // at.
  const auto& left = plan_.unfinished;
  if (run_.progress().iteration_open && left && (left->open ? !left->judged : run_.progress().turn_was_cut_off())) {
    // A turn that was cut off has no result: its story is where it was.
    if (const auto& before = run_.progress().plan.before; before && !left->open)
      plan_.tasks = with_review(plan_.tasks, before->story, pending_from(*before).review);
    plan_.unfinished.reset();
  }
  const bool killed = plan_.unfinished && plan_.unfinished->open;
  if (!plan_.unfinished && !all_done()) {
    if (!run_.is_resumed()) TRY(note_checked(false));
    return std::optional<Agents>();
  }
  rules_ = {Mode::kImplement, "", plan_.skip_review(), plan_.review_cap(), !killed};
  if (plan_.unfinished) {
    rules_.mode = plan_.unfinished->mode.value_or(Mode::kImplement);
    rules_.story = plan_.unfinished->story;
    marker_.iteration = plan_.unfinished->iteration;
    pending_ = plan_.unfinished->pending;
    head_ = plan_.unfinished->head;
  }
  if (!killed) TRY(enter(Stage::kFrozen));  // a killed iteration keeps its copy until it is judged
  return std::optional(agents());
}

Result<NextTurn> PlanWay::next() {
  const auto work = next_work(tasks(), plan_.skip_review());
  if (!work) return fail(ErrorKind::kInternal, "no story of {} can be worked on", plan_.files.tasks());
  rules_ = {work->mode, work->story->id, plan_.skip_review(), plan_.review_cap()};
  pending_.reset();
  const bool again = run_.progress().plan.worked == run_.progress().iteration;
  head_ = again ? run_.progress().plan.head : "";  // resumed in this iteration: what it began with
  if (head_.empty()) {
    TRY_VALUE(head_, repository_.head());
  }
  note_base(*work);
  if (!again) TRY(note_work(*work));
  marker_.iteration = run_.progress().iteration;
  marker_.iteration_mode = work->mode;
  marker_.story = work->story->id;
  marker_.snapshot = before_from(tasks());
  TRY_VALUE(const auto branch, repository_.branch());
  if (branch_.empty()) branch_ = branch.value_or("");
  TRY(write_marker());
  TRY(enter(Stage::kOpen));
  TRY_VALUE(prompt_, prompt_for(*work));
  NextTurn turn{prompt_, agents(), settings().stream_agent_output};
  turn.keep_words = work->mode == Mode::kReview;
  return turn;
}

Status PlanWay::note_work(const Work& work) {
  record::PlanWork note;
  note.iteration = run_.progress().iteration;
  note.mode = work.mode;
  note.story = work.story->id;
  note.title = work.story->title;
  note.reviews = work.story->review.count;
  note.review_cap = plan_.review_cap();
  note.head = head_;
  if (const auto base = plan_.bases.find(note.story); base != plan_.bases.end()) note.base = base->second;
  return run_.note(std::move(note));
}

// The base commit for comparing tests in a story's review. The last review's own changes are unreviewed.
void PlanWay::note_base(const Work& work) {
  if (head_.empty()) return;
  if (work.mode == Mode::kReview) {
    reviewed_ = head_;
  } else {
    plan_.bases.emplace(work.story->id, reviewed_.empty() ? head_ : reviewed_);
  }
}

Status PlanWay::write_marker() {
  marker_text_ = to_text(marker_);
  const std::string path = join_path(run_.project, kMarkerFile);
  if (is_directory(path)) ::rename(path.c_str(), unused_path(path + ".rejected-folder").c_str());
  return write_file_atomically(path, marker_text_);
}

Result<std::string> PlanWay::prompt_for(const Work& work) {
  Assignment assignment = assignment_for(plan_, work, run_.progress().iteration, run_.policy.max_iterations);
  const auto base = plan_.bases.find(work.story->id);
  if (work.mode == Mode::kReview && base != plan_.bases.end()) {
    auto lost = repository_.lost_tests(base->second);
    assignment.tests = lost ? *std::move(lost)
                            : std::vector{fmt::format("unknown: commit {}, which was there before this story, can't be "
                                                      "compared with any more ({}); look at all tests",
                                                      base->second.substr(0, 9), lost.error().message)};
  }
  const std::string prompt = plan_prompt(plan_.pinned.prompt.value_or(""), assignment);
  std::vector<Feedback> feedback = run_.progress().feedback;
  // The failures of a story that was sent back are in its reviewFeedback, which the assignment quotes.
  std::erase_if(feedback, [&](const Feedback& one) {
    return work.mode == Mode::kReviewFix && work.story->review.feedback.find(one.message) != std::string::npos;
  });
  return compose_prompt(prompt, feedback);
}

std::string PlanWay::iteration_in_words() const {
  if (plan_.unfinished)
    return fmt::format("{} iteration {} of the last run", to_string(rules_.mode), plan_.unfinished->iteration);
  if (rules_.frozen) return {};
  return fmt::format("{} iteration {}", to_string(rules_.mode), run_.progress().iteration);
}

// The agent's changes to the plan are always judged, even if the run stops.
Status PlanWay::after_turn(const Decision& decision) {
  judged_ = false;
  verdict_ = {};
  before_ = plan_.tasks;
  aftermath_.emplace(plan_.files, run_, repository_, iteration_in_words());
  enforced_ = aftermath_->enforce_plan(plan_.tasks, plan_.pinned, rules_, said_review());
  if (plan_.unfinished) enforced_.unsaid = false;  // its reviewer was killed before its last words
  aftermath_->check_marker(marker_text_);
  plan_.tasks = enforced_.file;
  TRY(enter(Stage::kEnforced));
  // An immediate stop does not wait for git either.
  if (decision.stops() && run_.progress().stop_requests >= 2) {
    history_checked_ = false;
    return leave_unchecked();
  }
  const Status history = aftermath_->check_history(head_, branch_);
  history_checked_ = history.has_value();
  if (decision.stops()) return leave_unchecked();
  TRY(history);
  return enter(Stage::kEnforced);  // returning to the branch may have changed the files
}

// Protected files: the agent may have committed its change.
Status PlanWay::put_back(const std::vector<std::string>& paths) {
  std::vector<std::string> full;
  for (const std::string& path : paths) full.push_back(join_path(run_.project, path));
  const auto done = repository_.commit(full, "ralph: put back protected files");
  if (!done) run_.listener.on_detail(fmt::format("protected files are not committed: {}", done.error().message));
  return {};
}

Result<IterationChecks> PlanWay::checks() {
  if (judged_) {  // they run again: revert changes to the plan since the verdict
    aftermath_->check_unchanged(plan_.tasks, plan_.pinned, rules_, "after it was judged");
    TRY(enter(Stage::kEnforced));
  } else {
    tree_.before_checks();
  }
  return IterationChecks{checks_of(settings(), tasks()), static_cast<size_t>(settings().output_truncate_chars),
                         settings().scm ? &*settings().scm : nullptr, settings().stream_agent_output};
}

Status PlanWay::after_checks(const Decision& decision) {
  aftermath_->check_unchanged(enforced_.file, plan_.pinned, rules_, "while the checks ran");
  plan_.tasks = enforced_.file;
  if (decision.stops()) return leave_unchecked();
  if (pending_) resume(enforced_, *pending_);
  tree_.after_checks();
  TRY_VALUE(const ChecksEnd end, checks_end());
  verdict_ = settle(before_, enforced_, rules_, end);
  verdict_.changed = verdict_.changed || pending_;
  pending_.reset();
  plan_.tasks = verdict_.file;
  if (!verdict_.story.empty() && !head_.empty()) plan_.bases.emplace(verdict_.story, head_);
  if (const auto& left = plan_.unfinished) {
    const bool killed = left->open;
    aftermath_->commit_leftovers(killed ? verdict_.file.text : left->tasks, killed ? plan_.pinned : left->pinned);
  }
  plan_.unfinished.reset();
  judged_ = true;
  passed_when_judged_ = passed();
  return enter(Stage::kJudged);
}

// SCM tasks run the agent for a message, and git runs the project's hooks. They must not change the plan, so ralph
// checks it again before the iteration is closed.
Result<Observation> PlanWay::observe() {
  // A failed commit says nothing of a story, but where no story is left there must be one to mend it in.
  const bool unfit = !passed() || (all_done() && !run_.progress().scm.failed.empty());
  if (passed_when_judged_ && unfit) {
    TRY_VALUE(const ChecksEnd end, checks_end());
    TRY(judge_again(end));
  }
  TRY(look_for_uncommitted());
  if (!aftermath_->check_unchanged(plan_.tasks, plan_.pinned, rules_, "after it was judged")) {
    TRY(enter(Stage::kRestored));
    TRY(enter(Stage::kEnforced));  // that commit may have run filters of the project
  }
  head_.clear();
  if (run_.progress().response && !all_done()) {
    aftermath_->tell_agent(fmt::format("<promise>{}</promise> was said too early: not all stories are done.",
                                       run_.policy.completion_response));
  }
  TRY(note_checked(true));
  TRY(enter(Stage::kClosed));
  return Observation{Moment::kAfterChecks};
}

// The run stops before the verdict. From here on the files are the user's. The next run makes the checks; until then no
// approval counts.
Status PlanWay::leave_unchecked() {
  if (auto step = pending_from(enforced_)) pending_ = std::move(step);
  plan_.tasks = pending_ ? hold_back(enforced_.file, before_, *pending_) : enforced_.file;
  // An interrupted turn has no result: if the run is resumed, it is taken again.
  const Story* const was = pending_ ? before_.tasks.find(pending_->story) : nullptr;
  if (was && run_.progress().turn_outcome == TurnOutcome::kInterrupted)
    plan_.tasks = with_review(enforced_.file, pending_->story, was->review);
  // What was said while an earlier agent's process lived is judged when the run is resumed.
  if (was && !run_.progress().survivors.empty()) {
    plan_.tasks = with_review(enforced_.file, pending_->story, was->review);
    pending_.reset();
  }
  if (history_checked_) head_.clear();
  TRY(enter(Stage::kHeld));
  if (pending_) {
    aftermath_->note(fmt::format("the run stopped before {} could be checked; the next run makes the checks first",
                                 pending_->story));
  }
  TRY(note_checked(false));
  return enter(Stage::kClosed);
}

// SCM tasks may have committed; what is left now keeps the story from being approved, and the plan from being done.
Status PlanWay::look_for_uncommitted() {
  auto left = tree_.uncommitted(all_done());
  if (!left) {
    aftermath_->note(fmt::format("whether all is committed is not known: {}", left.error().message));
    left = std::vector<std::string>{"unknown"};
  }
  aftermath_->tell_uncommitted(*left);
  const Story* const story = verdict_.story.empty() ? nullptr : tasks().find(verdict_.story);
  if (left->empty() || !((story && story->review.passes) || all_done())) return {};
  ChecksEnd end;
  end.objections = fmt::format(
      "The work is not committed: {}. Commit what belongs to the story, remove the rest, and submit the story again.",
      named_paths(*left));
  return judge_again(end);
}

// Checks that were repeated because of changes and fail now override the verdict, as does uncommitted work.
Status PlanWay::judge_again(const ChecksEnd& end) {
  aftermath_->check_unchanged(plan_.tasks, plan_.pinned, rules_, "after it was judged");
  TRY(enter(Stage::kEnforced));
  Enforcement now;
  now.file = plan_.tasks;
  now.moved = verdict_.story;
  now.step = verdict_.outcome;
  verdict_ = settle(before_, now, rules_, end);
  plan_.tasks = verdict_.file;
  return enter(Stage::kJudged);
}

Result<ChecksEnd> PlanWay::checks_end() {
  ChecksEnd end;
  end.passed = passed() && run_.progress().scm.failed.empty();
  std::vector<std::string> failures;
  for (const Feedback& feedback : run_.progress().collecting) failures.push_back(feedback.message);
  for (const Feedback& feedback : run_.progress().watch.feedback) failures.push_back(feedback.message);
  for (const Feedback& feedback : run_.progress().scm.feedback) failures.push_back(feedback.message);
  end.failures = join(failures, "\n\n");
  const bool review = rules_.mode == Mode::kReview && !rules_.frozen && !plan_.skip_review();
  TRY_VALUE(end.objections, tree_.objections(review ? head_ : ""));
  return end;
}

// An approval needs a turn that came to its end; in one that was cut off, only a request for changes counts.
SaidReview PlanWay::said_review() const {
  const auto& left = plan_.unfinished;
  SaidReview said = review_said(left ? left->words : run_.progress().final_words, rules_.story, prompt_);
  if (!left && said.step == StoryStep::kApproved && run_.progress().turn_outcome != TurnOutcome::kOk) said = {};
  return said;
}

// Before the first iteration there are only the stories to report.
Status PlanWay::note_checked(bool judged) {
  record::PlanChecked note;
  note.judged = judged;
  note.iteration = run_.progress().iteration;
  note.story = verdict_.story;
  note.outcome = verdict_.outcome;
  note.stories = static_cast<std::int64_t>(tasks().stories.size());
  note.done = static_cast<std::int64_t>(count_done(tasks(), plan_.skip_review()));
  for (const Story& story : tasks().stories) {
    if (approved_at_cap(story)) note.at_cap.push_back(story.id);
    if (is_done(story, plan_.skip_review())) continue;
    note.open.push_back(story.review.status == ReviewStatus::kNone
                            ? story.id
                            : fmt::format("{} ({})", story.id, to_string(story.review.status)));
  }
  if (aftermath_) {
    note.mode = rules_.mode;
    note.violations = aftermath_->violations();
    note.notes = aftermath_->notes();
    note.feedback = aftermath_->feedback();
  }
  note.unsaid = enforced_.unsaid;
  note.made = tree_.made();
  if (pending_) note.pending = to_record(*pending_);
  if (const Story* was = pending_ ? before_.tasks.find(pending_->story) : nullptr)
    note.before = to_record({pending_->story, StoryStep::kNone, was->review});
  note.head = head_;
  note.bases = plan_.bases;
  return run_.note(std::move(note));
}

}  // namespace ralph
