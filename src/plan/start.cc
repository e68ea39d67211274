#include "plan/start.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "git/git.h"
#include "git/repository.h"
#include "os/files.h"
#include "plan/scaffold.h"

namespace ralph {
namespace {

constexpr size_t kTitleWidth = 100;

// Finds stories that pass although no run recorded that. Without reviews it is the user's choice, and only reported.
void note_edits(const std::optional<SavedPlan>& saved, PlanRun& run) {
  const auto then = read_tasks(saved ? saved->tasks : "", "tasks.json").tasks;
  std::vector<std::string> approved;
  for (const Story& story : run.tasks.tasks.stories) {
    const Story* was = then ? then->find(story.id) : nullptr;
    if (!story.review.passes || (was && was->review.passes)) continue;
    approved.push_back(story.id);
    const bool accepted =
        saved && std::find(saved->accepted.begin(), saved->accepted.end(), story.id) != saved->accepted.end();
    if (!run.skip_review() && !accepted) run.unknown_approvals.push_back(story.id);
  }
  if (!saved) return;
  std::vector<std::string>& notes = run.notes;
  if (approved.empty()) return;
  notes.push_back(fmt::format("{} {} marked as passing since the last run ended, not by a review of ralph's",
                              join_for_people(approved), approved.size() == 1 ? "was" : "were"));
}

// The copy of an unrelated plan must not replace this one. Unreadable files are left to enforcement.
Status expect_same_plan(const PlanRun& run, const StoryList& copy) {
  const auto now = read_tasks(read_plain_file(run.files.tasks()).value_or(""), "").tasks;
  if (!now) return {};
  for (const Story& story : now->stories) {
    if (copy.find(story.id)) return {};
  }
  return fail(
      ErrorKind::kInput,
      "{} has no story of the plan that the last run was killed with (such as {}, in ralph's own copy {}); is it "
      "a new plan? If so, add --accept-tasks to use it as it is. If not, put the old stories back",
      run.files.tasks(), fit_to_width(copy.stories.front().id, kTitleWidth), run.authority);
}

// The saved bases, except for stories that start over: their entries belong to earlier work.
std::map<std::string, std::string> bases_for(const StoryList& now, const SavedPlan& saved) {
  const auto then = read_tasks(saved.tasks, "").tasks;
  std::map<std::string, std::string> bases;
  for (const auto& [id, commit] : saved.bases) {
    const Story* is = now.find(id);
    const Story* was = then ? then->find(id) : nullptr;
    const bool starts_over = is && is->review == Review{} && was && was->review != Review{};
    if (is && !starts_over) bases.emplace(id, commit);
  }
  return bases;
}

// Whether the last run left an unchecked step and nobody has changed its story since.
bool is_pending(const SavedPlan& saved, const PlanRun& run) {
  const auto left = read_tasks(saved.tasks, "").tasks;
  return saved.pending && left && saved.skip_review == run.skip_review() &&
         still_applies(*saved.pending, *left, run.tasks.tasks);
}

// Stories that a run without reviews finished still need a review: a run with reviews begins with that.
void reopen_unreviewed(const SavedPlan& saved, PlanRun& run) {
  if (!saved.skip_review || run.skip_review()) return;
  std::vector<std::string> reopened;
  for (const Story& story : run.tasks.tasks.stories) {
    if (story.review.passes && story.review.status == ReviewStatus::kNone) reopened.push_back(story.id);
  }
  if (reopened.empty()) return;
  for (const std::string& id : reopened)
    run.tasks = with_review(run.tasks, id, Review{false, ReviewStatus::kNeedsReview, 0, ""});
  run.reopened = true;
  run.notes.push_back(fmt::format("{} {} finished without a review (--skip-review), and {} reviewed now",
                                  join_for_people(reopened), reopened.size() == 1 ? "was" : "were",
                                  reopened.size() == 1 ? "is" : "are"));
}

std::string where_from(const PlanRun& run) {
  return run.continues_from_copy() ? fmt::format("ralph's own copy {}", run.authority) : run.files.tasks();
}

std::string how_to_leave_the_copy(const PlanRun& run) {
  return fmt::format(
      "The last run was killed, and what it left is judged by ralph's own copy first; --accept-tasks takes {} as it is "
      "instead",
      run.files.tasks());
}

Status switch_branch(const PlanRun& run, const std::string& branch, bool exists) {
  const Repository repository(plain_git(run.files.project));
  TRY_VALUE(const std::string objection, repository.switch_to(branch, !exists));
  if (objection.empty()) return {};
  return fail(ErrorKind::kInput,
              "cannot switch to the branch {}: {}; switch yourself, or add --no-switch to work on the current branch",
              branch, objection);
}

// Uncommitted files except the plan's own and those that `plan init` wrote, which a run may take along to another
// branch. The user's other work must stay where it is.
Result<std::vector<std::string>> uncommitted_before_start(const PlanRun& run, const Repository& repository) {
  TRY_VALUE(const std::string top, repository.work_tree());
  const PlanFiles& files = run.files;
  std::vector<std::string> own;
  for (const std::string& path :
       {files.tasks(), files.prd(), files.prompt(), files.progress(), join_path(files.project, ".gitignore")}) {
    if (std::string below = path_below(path, top); !below.empty()) own.push_back(std::move(below));
  }
  return repository.uncommitted(own);
}

Result<std::string> obstacle_to(const PlanRun& run, const Repository& repository, const BranchFault& fault) {
  if (!fault.there) return std::string();
  // Somebody switched since then, perhaps on purpose.
  if (run.continues_from_copy()) return std::string("the last run was killed on the plan's branch");
  if (fault.detached) return std::string("HEAD may have commits that no branch has");
  TRY_VALUE(const auto lines, uncommitted_before_start(run, repository));
  if (lines.empty()) return std::string();
  const std::string first = lines.front().substr(std::min<size_t>(3, lines.front().size()));
  return fmt::format("{} uncommitted: commit or stash {}",
                     lines.size() == 1 ? first + " is" : fmt::format("{} and {} more are", first, lines.size() - 1),
                     lines.size() == 1 ? "it" : "them");
}

Result<std::optional<BranchFault>> branch_fault(const PlanRun& run) {
  const Repository repository(plain_git(run.files.project), run.files.project);
  TRY_VALUE(const bool exists, repository.exists());
  if (!exists) {
    return fail(ErrorKind::kInput, "{} is not a git repository, and a plan needs commits; run 'git init' there",
                run.files.project);
  }
  TRY_VALUE(const auto branch, repository.branch());
  const std::string& wanted = run.tasks.tasks.branch;
  if (branch && (wanted.empty() || *branch == wanted)) return std::optional<BranchFault>();
  if (wanted.empty()) return fail(ErrorKind::kInput, "HEAD is detached, so commits would be lost; switch to a branch");
  BranchFault fault;
  TRY_VALUE(fault.there, repository.has_branch(wanted));
  fault.detached = !branch;
  fault.command = fmt::format("git switch {}{}", fault.there ? "" : "-c ", wanted);
  TRY_VALUE(fault.obstacle, obstacle_to(run, repository, fault));
  fault.problem = branch ? fmt::format("the branch is {}, but the plan's (branchName in {}) is {}", *branch,
                                       where_from(run), wanted)
                         : fmt::format("HEAD is detached, so commits would be lost; the plan's branch is {}", wanted);
  return fault;
}

Error refusal_of(const PlanRun& run, const BranchFault& fault) {
  return {ErrorKind::kInput,
          fmt::format("{}{}; run '{}', or add --switch{}{}", fault.problem,
                      fault.obstacle.empty() ? "" : fmt::format(", and {}", fault.obstacle), fault.command,
                      fault.detached ? "" : ", or --no-switch to work on the current one",
                      run.continues_from_copy() ? fmt::format(". {}", how_to_leave_the_copy(run)) : "")};
}

}  // namespace

std::vector<std::string> still_added(const StoryList& tasks, const std::vector<std::string>& added) {
  return missing_from(tasks.verify_commands, missing_from(tasks.verify_commands, added));
}

Status load_plan_files(PlanRun& run, bool accept) {
  const PlanFiles& files = run.files;
  TRY(check_plan_folder(files));
  constexpr std::string_view kInit = "'ralph plan init' makes one";
  TRY_VALUE(run.authority, authority_path(Environment::of_this_process(), files.ralph_dir));
  TRY_VALUE(auto saved, load_plan(run.authority));
  if (const std::string fault = saved ? recall_from_journal(*saved, files.project) : ""; !fault.empty())
    run.notes.push_back(fmt::format("what the last run's journal says is not used: {}", fault));
  if (saved && saved->open && !accept) {
    TRY_VALUE(run.tasks, story_file_from(saved->tasks, run.authority));
    TRY(expect_same_plan(run, run.tasks.tasks));
    run.bases = saved->bases;
    run.pinned = saved->pinned;
    run.added = saved->added;
    run.unfinished = std::move(saved);
    return {};
  }
  TRY_VALUE(std::string text, require_plain_file(files.tasks(), kInit));
  if (!trim(text).empty() && is_untouched_tasks(text)) {
    return fail(ErrorKind::kInput,
                "{} is still the template; 'ralph plan draft' writes a plan with you, or write it yourself",
                files.tasks());
  }
  TRY_VALUE(run.tasks, story_file_from(std::move(text), files.tasks()));
  note_edits(saved, run);
  if (saved) {
    run.bases = bases_for(run.tasks.tasks, *saved);
    if (!accept) run.added = still_added(run.tasks.tasks, saved->added);
    reopen_unreviewed(*saved, run);
  }
  TRY_VALUE(std::string prompt, require_plain_file(files.prompt(), kInit));
  if (trim(prompt).empty())
    return fail(ErrorKind::kInput, "{} is blank; remove it, and 'ralph plan init' makes a new one", files.prompt());
  std::optional<std::string> prd;
  if (path_exists(files.prd())) {  // optional, but if it exists it must be pinned
    TRY_VALUE(prd, require_plain_file(files.prd(), kInit));
  }
  run.pinned = {std::move(prd), std::move(prompt), read_plain_file(files.progress())};
  if (saved && !accept && is_pending(*saved, run)) run.unfinished = std::move(saved);
  return {};
}

Status keep_approvals(const PlanRun& run) {
  TRY_VALUE(auto saved, load_plan(run.authority));
  if (!saved) {
    saved.emplace();
    saved->project = run.files.project;
    saved->ralph_dir = run.files.ralph_dir;
    saved->tasks = run.tasks.text;
  }
  saved->accepted = run.unknown_approvals;
  return save_plan(run.authority, *saved);
}

Status write_reopened(const PlanRun& run) {
  if (!run.reopened) return {};
  TRY(write_file_atomically(run.files.tasks(), run.tasks.text));
  const Repository repository(plain_git(run.files.project), run.files.project);
  TRY(repository.commit({run.files.tasks()}, "ralph: stories finished without a review await theirs"));
  return {};
}

Assignment assignment_for(const PlanRun& run, const Work& work, int iteration, int max_iterations) {
  const std::string folder = run.files.shown(run.files.ralph_dir);
  Assignment assignment{work.mode,        work.story, &run.tasks.tasks, run.skip_review(),
                        run.review_cap(), iteration,  max_iterations,   folder};
  assignment.added = run.added;
  return assignment;
}

Status check_state(const PlanRun& run) {
  if (run.skip_review()) return {};
  // No cap: review counts above it may come from a run with another cap.
  const auto problems = judge_invariants(run.tasks.tasks, std::nullopt);
  if (problems.empty()) return {};
  std::vector<std::string> lines;
  for (const PlanProblem& problem : problems) lines.push_back(fmt::format("{}: {}", where_from(run), problem.message));
  if (run.continues_from_copy()) lines.push_back(how_to_leave_the_copy(run));
  return tl::unexpected(Error{ErrorKind::kInput, join(lines, "\n")});
}

Result<BranchChange> check_branch(const PlanRun& run, BranchChoice choice,
                                  const std::function<Result<bool>(const BranchFault&)>& may_switch) {
  TRY_VALUE(const auto fault, branch_fault(run));
  if (!fault) return BranchChange();
  const std::string& wanted = run.tasks.tasks.branch;
  if (choice == BranchChoice::kStay && !fault->detached)
    return BranchChange{false, fmt::format("{}; --no-switch: the run stays where it is", fault->problem)};
  bool yes = choice == BranchChoice::kSwitch || (choice == BranchChoice::kAuto && fault->obstacle.empty());
  if (!yes && choice == BranchChoice::kAuto) {
    TRY_VALUE(yes, may_switch(*fault));
  }
  if (!yes) return tl::unexpected(refusal_of(run, *fault));
  TRY(switch_branch(run, wanted, fault->there));
  return BranchChange{true, fmt::format("{}; {}", fault->problem,
                                        fault->there ? "switched to it" : "created it at HEAD and switched to it")};
}

std::string branch_note(const PlanRun& run, BranchChoice choice) {
  const auto fault = branch_fault(run);
  if (!fault) return fmt::format("A run would refuse: {}.\n", fault.error().message);
  if (!*fault) return {};
  if (choice == BranchChoice::kStay && !(*fault)->detached)
    return fmt::format("A run would stay on the branch: {}.\n", (*fault)->problem);
  if (choice == BranchChoice::kSwitch || (choice == BranchChoice::kAuto && (*fault)->obstacle.empty()))
    return fmt::format("A run would switch: {}: '{}'.\n", (*fault)->problem, (*fault)->command);
  return fmt::format("A run would refuse: {}.\n", refusal_of(run, **fault).message);
}

}  // namespace ralph
