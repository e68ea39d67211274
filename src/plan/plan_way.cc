#include "plan/plan_way.h"

#include <cstdio>
#include <utility>

#include "base/text.h"
#include "engine/prompt.h"
#include "engine/scm_command.h"
#include "git/quiet.h"
#include "os/files.h"
#include "plan/changed_checks.h"
#include "plan/statistics.h"

namespace ralph {

PlanWay::PlanWay(Run& run, PlanRun plan, std::array<Agents, 3> agents, Marker marker)
    : run_(run),
      plan_(std::move(plan)),
      agents_(agents),
      marker_(std::move(marker)),
      repository_(contained_git(run, "git", plan_.work_tree), plan_.files.project),
      tree_(run, repository_, plan_.files, plan_.work_tree),
      room_(run, plan_) {}

Status PlanWay::hold_plan() {
  TRY(make_copy_folder(plan_.authority));
  TRY_VALUE(lock_, lock_plan(plan_.authority, plan_.files.ralph_dir));
  // Temporary files left in the project would get committed.
  for (const std::string& path : {plan_.authority, join_path(run_.project, kMarkerFile), plan_.files.tasks(),
                                  plan_.files.prd(), plan_.files.prompt(), plan_.files.progress()})
    remove_unfinished_writes(path);
  return lock_->name_owner(fmt::format("run {}, pid {}\n", run_.id, marker_.pid));
}

// Settles the unfinished iteration of the last run. A plan that is already done is checked once, without an agent.
Result<std::optional<Agents>> PlanWay::begin() {
  TRY(hold_plan());
  room_.begin();
  for (const std::string& command : tasks().verify_commands) run_.policy.check_commands.push_back(command);
  TRY(write_marker());  // now, because checks before the first iteration may take a while
  if (!run_.is_resumed()) {
    record::PlanBegan began;
    TRY_VALUE(TreeState tree, tree_.look());
    began.uncommitted = std::move(tree.uncommitted);
    began.added = plan_.added;
    TRY(run_.note(std::move(began)));
  }
  reviewed_ = run_.progress().plan.reviewed;
  // A resumed run continues its open iteration normally if its turn has yet to be taken, or was taken but not yet
  // judged.
  const auto& left = plan_.unfinished;
  if (left && left->open) carried_ = left->carried;
  if (run_.progress().iteration_open && left && (left->open ? !left->judged : run_.progress().turn_was_cut_off())) {
    // A turn that was cut off has no result: its story keeps its earlier state.
    if (const auto& before = run_.progress().plan.before; before && !left->open)
      plan_.tasks = with_review(plan_.tasks, before->story, pending_from(*before).review);
    plan_.unfinished.reset();
  }
  const bool killed = plan_.unfinished && plan_.unfinished->open;
  if (!plan_.unfinished && !all_done()) {
    if (!run_.is_resumed()) TRY(note_checked(false));
    return std::optional<Agents>();
  }
  rules_ = {Mode::kImplement, "", plan_.skip_review(), plan_.review_cap(), !killed, false, plan_.added};
  if (plan_.unfinished) {
    rules_.mode = plan_.unfinished->mode.value_or(Mode::kImplement);
    rules_.story = plan_.unfinished->story;
    marker_.iteration = plan_.unfinished->iteration;
    pending_ = plan_.unfinished->pending;
    head_ = plan_.unfinished->head;
    find_left_review();
  }
  if (!killed) TRY(enter(Stage::kFrozen));  // a killed iteration keeps its copy until it is judged
  return std::optional(agents());
}

// An earlier run's unchecked verdict is checked in a clean checkout, like all others. If its commit is gone, the
// verdict does not count.
void PlanWay::find_left_review() {
  constexpr std::array kOfReviews = {StoryStep::kApproved, StoryStep::kAutoApproved, StoryStep::kChangesRequested};
  const bool review = pending_ ? is_one_of(pending_->step, kOfReviews) : rules_.mode == Mode::kReview;
  if (!review || plan_.skip_review() || !plan_.in_place.empty()) return;
  const std::string& commit = plan_.unfinished->reviewed;
  if (!commit.empty() && repository_.is_ancestor(commit).value_or(false)) {
    left_review_ = commit;
    return;
  }
  run_.listener.on_detail(
      fmt::format("The commit that iteration {} reviewed is no longer known, or not part of the branch: its verdict "
                  "does not count",
                  plan_.unfinished->iteration));
  pending_.reset();
  plan_.unfinished->words.clear();
}

Result<NextTurn> PlanWay::next() {
  const auto work = next_work(tasks(), plan_.skip_review());
  if (!work) return fail(ErrorKind::kInternal, "no story of {} can be worked on", plan_.files.tasks());
  rules_ = {work->mode, work->story->id, plan_.skip_review(), plan_.review_cap(), false, false, plan_.added};
  pending_.reset();
  const bool again = run_.progress().plan.worked == run_.progress().iteration;
  if (!again) carried_.clear();
  head_ = again ? run_.progress().plan.head : "";  // resumed in this iteration: its starting commit
  if (head_.empty()) {
    TRY_VALUE(head_, repository_.head());
  }
  note_base(*work);
  const bool in_room = work->mode == Mode::kReview && plan_.in_place.empty() && !head_.empty();
  if (!again) TRY(note_work(*work, in_room));
  marker_.iteration = run_.progress().iteration;
  marker_.iteration_mode = work->mode;
  marker_.story = work->story->id;
  marker_.snapshot = before_from(tasks());
  TRY_VALUE(const auto branch, repository_.branch());
  if (branch_.empty()) branch_ = branch.value_or("");
  room_.close();
  const bool was_taken = run_.progress().turn_is_over() || run_.progress().turn_was_cut_off();
  if (in_room) {
    TRY(room_.open(head_, branch_, plan_.tasks, plan_.pinned, again && was_taken));
    TRY_VALUE(const Decision ready, run_.ask({Moment::kBetweenSteps}));  // a setup may have run
    if (ready.stops()) {
      NextTurn none;
      none.stopped = ready;
      return none;
    }
  }
  TRY(write_marker());
  TRY(enter(Stage::kOpen));
  TRY_VALUE(prompt_, prompt_for(*work));
  NextTurn turn{prompt_, agents(), settings().stream_agent_output};
  turn.keep_words = work->mode == Mode::kReview;
  if (in_room) turn.change = room_.change();
  if (work->mode == Mode::kReview) turn.environment = quiet_git(run_.environment);
  return turn;
}

Status PlanWay::note_work(const Work& work, bool in_room) {
  record::PlanWork note;
  note.iteration = run_.progress().iteration;
  note.mode = work.mode;
  note.story = work.story->id;
  note.title = work.story->title;
  note.reviews = work.story->review.count;
  note.review_cap = plan_.review_cap();
  note.head = head_;
  if (const auto base = plan_.bases.find(note.story); base != plan_.bases.end()) note.base = base->second;
  if (in_room) note.room = room_.files().project;
  if (work.mode == Mode::kReview && !in_room) note.in_place = plan_.in_place;
  return run_.note(std::move(note));
}

// Notes the base commit that a story's review compares tests with. It is the last reviewed commit if there is one,
// because nobody has reviewed that review's own changes.
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
  if (room_.is_open()) {
    Marker there = marker_;
    there.ralph_dir = room_.files().ralph_dir;
    TRY(write_file_atomically(join_path(room_.files().project, kMarkerFile), to_text(there)));
  }
  return write_file_atomically(path, marker_text_);
}

Result<std::string> PlanWay::prompt_for(const Work& work) {
  Assignment assignment = assignment_for(plan_, work, run_.progress().iteration, run_.policy.max_iterations);
  if (room_.is_open()) assignment.reviewed = head_;
  const auto base = plan_.bases.find(work.story->id);
  if (work.mode == Mode::kReview && base != plan_.bases.end()) {
    auto lost = repository_.lost_tests(base->second);
    assignment.tests = lost ? *std::move(lost)
                            : std::vector{fmt::format("unknown: commit {} from before this story can no longer be "
                                                      "compared with ({}); look at all tests",
                                                      base->second.substr(0, 9), lost.error().message)};
  }
  if (work.mode == Mode::kReview) {
    assignment.tampered = run_.progress().watch.tampered;
    if (base != plan_.bases.end())
      tell_changed_checks(assignment, contained_git(run_, "git", plan_.work_tree), plan_.work_tree, base->second,
                          run_.policy.check_commands);
  }
  const std::string prompt = plan_prompt(plan_.pinned.prompt.value_or(""), assignment);
  std::vector<Feedback> feedback = run_.progress().feedback;
  // The failures of a story that was sent back are in its reviewFeedback, which the assignment quotes.
  std::erase_if(feedback, [&](const Feedback& one) {
    return work.mode == Mode::kReviewFix && work.story->review.feedback.find(one.message) != std::string::npos;
  });
  return compose_prompt(prompt, feedback);
}

Status PlanWay::finish(const Decision& decision) {
  static_cast<void>(decision);
  room_.remove();
  return {};
}

}  // namespace ralph
