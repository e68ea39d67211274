// Judging a plan's iteration after its turn: the agent's changes, the checks, the verdict.
#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"
#include "engine/reasons.h"
#include "journal/plan_notes.h"
#include "os/files.h"
#include "plan/carry_back.h"
#include "plan/plan_way.h"
#include "plan/statistics.h"

namespace ralph {
namespace {

// The guardrails of the settings, then the plan's own commands (pinned ones first), without duplicates.
std::vector<GuardrailSettings> checks_of(const Settings& settings, const StoryList& tasks,
                                         const std::vector<std::string>& added) {
  std::vector<GuardrailSettings> checks = settings.guardrails;
  std::vector<std::string> commands = missing_from(tasks.verify_commands, added);
  for (const std::string& command : still_added(tasks, added)) commands.push_back(command);
  for (const std::string& command : commands) {
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
  aftermath_.emplace(plan_.files, run_, repository_, iteration_in_words());
  if (rules_.mode == Mode::kReview && !plan_.unfinished) TRY(run_.sync());  // the spoken verdict counts from here on
  // An immediate stop does not wait for git: the review is repeated later.
  const bool at_once = decision.stops() && run_.progress().stop_requests >= 2;
  if (!at_once) TRY(take_from_room());
  before_ = plan_.tasks;
  enforced_ = aftermath_->enforce_plan(plan_.tasks, plan_.pinned, rules_, said_review());
  if (plan_.unfinished) enforced_.unsaid = false;  // the reviewer was killed before its final message
  aftermath_->check_marker(marker_text_);
  plan_.tasks = enforced_.file;
  note_verify_commands();
  TRY(enter(Stage::kEnforced));
  if (at_once) {
    history_checked_ = false;
    return leave_unchecked();
  }
  if (decision.rule == kRepositoryGone) {  // there is neither a branch nor a history
    history_checked_ = false;
    return leave_unchecked();
  }
  const Status history = aftermath_->check_history(head_, branch_);
  history_checked_ = history.has_value();
  if (decision.stops()) return leave_unchecked();
  TRY(history);
  return enter(Stage::kEnforced);  // returning to the branch may have changed the files
}

// Copies the results of a review from its room, once: the room is reset for the checks, and a run that was killed
// during the checks finds the copies in the project.
Status PlanWay::take_from_room() {
  if (room_.is_open() && carried_.empty()) {
    TRY_VALUE(carried_, carry_back(room_, plan_, rules_, *aftermath_));
    TRY(enter(Stage::kOpen));
  }
  // The verdict of an earlier process already has its own record.
  const bool is_judged = plan_.unfinished && plan_.unfinished->judged;
  if (!carried_.empty()) aftermath_->carried_back(is_judged ? "" : rules_.story, carried_);
  return {};
}

// Verify commands that are not pinned were added by agents, which may also remove them.
void PlanWay::note_verify_commands() {
  const std::vector<std::string> added =
      missing_from(tasks().verify_commands, *before_from(before_.tasks, plan_.added).verify_commands);
  for (const std::string& command : missing_from(added, plan_.added))
    aftermath_->note(
        fmt::format("verify command added by {}: {}; it runs after the pinned ones", iteration_in_words(), command));
  for (const std::string& command : missing_from(plan_.added, added))
    aftermath_->note(fmt::format("verify command of an agent removed by {}: {}", iteration_in_words(), command));
  plan_.added = added;
}

// Commits files that ralph restored, because the agent may have committed its changes to them.
Status PlanWay::put_back(const std::vector<std::string>& paths) {
  std::vector<std::string> full;
  for (const std::string& path : paths) full.push_back(join_path(run_.project, path));
  TRY(run_.sync());
  const auto done = repository_.commit(full, "ralph: put back protected files");
  if (!done)
    run_.listener.on_detail(fmt::format("files that were put back are not committed: {}", done.error().message));
  return {};
}

Result<IterationChecks> PlanWay::checks() {
  if (judged_) {  // the checks run again: revert changes to the plan since the verdict
    aftermath_->check_unchanged(plan_.tasks, plan_.pinned, rules_, "after it was judged");
    TRY(enter(Stage::kEnforced));
  } else {
    tree_.before_checks();
  }
  IterationChecks checks{checks_of(settings(), tasks(), plan_.added),
                         static_cast<size_t>(settings().output_truncate_chars),
                         settings().scm ? &*settings().scm : nullptr, settings().stream_agent_output};
  if (!left_review_.empty()) {
    TRY_VALUE(const auto branch, repository_.branch());
    room_.open_for_checks(std::exchange(left_review_, ""), branch.value_or(""));
  }
  if (room_.is_open()) {
    TRY(room_.reset());
    checks.change = room_.change();
  }
  has_checks_ = !checks.guardrails.empty() || run_.policy.has_criteria() || room_.is_open();
  return checks;
}

Status PlanWay::after_checks(const Decision& decision) {
  aftermath_->check_unchanged(enforced_.file, plan_.pinned, rules_, "while the checks ran");
  plan_.tasks = enforced_.file;
  if (decision.stops()) return leave_unchecked();
  if (pending_) resume(enforced_, *pending_);
  if (has_checks_) tree_.after_checks();
  TRY_VALUE(const ChecksEnd end, checks_end());
  verdict_ = settle(before_, enforced_, rules_, end);
  tell_objections(end);
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

// SCM tasks run the agent to get a commit message, and git runs the project's hooks. Neither may change the plan, so
// ralph checks it again before it closes the iteration.
Result<Observation> PlanWay::observe() {
  // A failed commit says nothing about a story. But if all stories are done, one must be reopened to fix it.
  const bool unfit = !passed() || (all_done() && !run_.progress().scm.failed.empty());
  if (passed_when_judged_ && unfit) {
    TRY_VALUE(const ChecksEnd end, checks_end());
    TRY(judge_again(end));
  }
  TRY(look_for_uncommitted());
  if (!aftermath_->check_unchanged(plan_.tasks, plan_.pinned, rules_, "after it was judged")) {
    TRY(enter(Stage::kRestored));
    TRY(enter(Stage::kEnforced));  // the commit may have run the project's filters
  }
  head_.clear();
  if (run_.progress().response && !all_done()) {
    aftermath_->tell_agent(fmt::format("<promise>{}</promise> was said too early: not all stories are done.",
                                       run_.policy.completion_response));
  }
  TRY(note_checked(true));
  room_.close();
  TRY(enter(Stage::kClosed));
  return Observation{Moment::kAfterChecks};
}

// The run stops before the verdict, and the files belong to the user again. The next run performs the checks; until
// then no approval counts.
Status PlanWay::leave_unchecked() {
  if (auto step = pending_from(enforced_)) pending_ = std::move(step);
  plan_.tasks = pending_ ? hold_back(enforced_.file, before_, *pending_) : enforced_.file;
  // An interrupted turn has no result: it is repeated if the run is resumed.
  const Story* const was = pending_ ? before_.tasks.find(pending_->story) : nullptr;
  if (was && run_.progress().turn_outcome == TurnOutcome::kInterrupted)
    plan_.tasks = with_review(enforced_.file, pending_->story, was->review);
  // A verdict given while an earlier agent's process was alive is judged when the run is resumed.
  if (was && !run_.progress().survivors.empty()) {
    plan_.tasks = with_review(enforced_.file, pending_->story, was->review);
    pending_.reset();
  }
  if (history_checked_) head_.clear();
  TRY(enter(Stage::kHeld));
  if (pending_) {
    aftermath_->note(
        fmt::format("the run stopped before {} could be checked; the next run runs the checks first", pending_->story));
  }
  TRY(note_checked(false));
  room_.close();
  return enter(Stage::kClosed);
}

// Runs after SCM tasks, which may have committed. Files that are still uncommitted prevent the approval of the story
// and the completion of the plan.
Status PlanWay::look_for_uncommitted() {
  auto left = tree_.uncommitted(all_done());
  if (!left) {
    aftermath_->note(fmt::format("could not find out whether everything is committed: {}", left.error().message));
    left = std::vector<std::string>{"unknown"};
  }
  TRY(look_for_dropped(*left));
  aftermath_->tell_uncommitted(*left);
  const Story* const story = verdict_.story.empty() ? nullptr : tasks().find(verdict_.story);
  if (left->empty() || !((story && story->review.passes) || all_done())) return {};
  ChecksEnd end;
  end.objections = fmt::format(
      "The work is not committed: {}. Commit what belongs to the story, remove the rest, and submit the story again.",
      named_paths(*left));
  return judge_again(end);
}

// Finds files that were committed before the story and are now only in the work tree, where git ignores them. If a
// committed .gitignore ignores them openly, that is allowed: it may be the purpose of the story.
Status PlanWay::look_for_dropped(std::vector<std::string>& uncommitted) {
  const auto base = plan_.bases.find(verdict_.story);
  if (base == plan_.bases.end()) return {};
  const auto dropped = repository_.dropped_since(base->second);
  if (!dropped) return {};  // the commit is gone, which is reported elsewhere
  std::vector<std::string> openly;
  for (const Repository::Dropped& file : *dropped) {
    if (file.openly) {
      openly.push_back(file.path);
    } else {
      uncommitted.push_back(
          fmt::format("{} (no longer tracked, and ignored by no .gitignore of the project)", file.path));
    }
  }
  if (openly.empty()) return {};
  aftermath_->note(fmt::format("no longer tracked, but still there and ignored: {}", named_paths(openly)));
  aftermath_->tell_agent(
      fmt::format("No longer tracked since this story began, but still there and ignored: {}. The commit does not have "
                  "that; checks "
                  "in the project see it.",
                  named_paths(openly)));
  return {};
}

// Overrides the verdict if the checks were repeated because of changes and now fail, or if work is uncommitted.
Status PlanWay::judge_again(const ChecksEnd& end) {
  aftermath_->check_unchanged(plan_.tasks, plan_.pinned, rules_, "after it was judged");
  TRY(enter(Stage::kEnforced));
  Enforcement now;
  now.file = plan_.tasks;
  now.moved = verdict_.story;
  now.step = verdict_.outcome;
  verdict_ = settle(before_, now, rules_, end);
  tell_objections(end);
  plan_.tasks = verdict_.file;
  return enter(Stage::kJudged);
}

// Reports why a story is sent back although its checks pass.
void PlanWay::tell_objections(const ChecksEnd& end) {
  if (verdict_.outcome != StoryStep::kSentBack || !end.passed || end.objections.empty()) return;
  std::string why = end.objections.substr(0, end.objections.find(". "));
  why.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(why.front())));
  aftermath_->note(fmt::format("{}{}", kObjection, why));
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
  TRY_VALUE(end.objections, tree_.objections(review ? head_ : "", room_.is_open()));
  if (room_.is_open()) {
    TRY_VALUE(const std::vector<std::string> moved, room_.changed_by_checks());
    if (!moved.empty()) {
      end.objections = fmt::format(
          "The checks changed {}, so the commit itself was not checked. Commit what they make, or fix them, and submit "
          "the story again.",
          named_paths(moved));
    }
  }
  return end;
}

// An approval needs a turn that ended normally. If the turn was cut off, only a request for changes counts.
SaidReview PlanWay::said_review() const {
  const auto& left = plan_.unfinished;
  SaidReview said = review_said(left ? left->words : run_.progress().final_words, rules_.story, prompt_);
  if (!left && said.step == StoryStep::kApproved && run_.progress().turn_outcome != TurnOutcome::kOk) said = {};
  return said;
}

// Before the first iteration there are only stories to report.
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
  note.added = plan_.added;
  if (pending_) note.pending = to_record(*pending_);
  if (const Story* was = pending_ ? before_.tasks.find(pending_->story) : nullptr)
    note.before = to_record({pending_->story, StoryStep::kNone, was->review});
  note.head = head_;
  note.bases = plan_.bases;
  return run_.note(std::move(note));
}

}  // namespace ralph
