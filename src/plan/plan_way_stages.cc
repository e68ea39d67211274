// The stages of a plan's iteration: what is saved and written at each.
#include "plan/plan_way.h"

namespace ralph {
namespace {

enum class Files { kLeft, kWritten, kCommitted };

struct StageRow {
  std::string_view when;
  std::optional<SavedPlan::State> copy;  // the new state of ralph's own copy; nullopt: unchanged
  Files files;                           // what to do with the plan's files in the project
};

// By Stage. Each row lists what to establish on entry, from left to right. The copy is saved before the files are
// written, so if ralph is killed in between, the next run finds the verdict.
constexpr std::array<StageRow, 7> kStages = {{
    {"kOpen: an agent is about to start, or its files were carried back", SavedPlan::State::kOpen, Files::kLeft},
    {"kFrozen: only checks are about to run", SavedPlan::State::kJudged, Files::kLeft},
    {"kEnforced: the agent has ended; what it may not change is put back", std::nullopt, Files::kWritten},
    {"kRestored: a program changed the plan after it was judged", std::nullopt, Files::kCommitted},
    {"kHeld: the run stops before the checks; an approval is held back", SavedPlan::State::kJudged, Files::kCommitted},
    {"kJudged: the checks have run and the story has its verdict", SavedPlan::State::kJudged, Files::kCommitted},
    {"kClosed: nothing runs; the files are the user's", SavedPlan::State::kClosed, Files::kLeft},
}};

}  // namespace

Status PlanWay::enter(Stage stage) {
  const StageRow& row = kStages[static_cast<size_t>(stage)];
  if (row.copy) TRY(save(*row.copy));
  if (row.files == Files::kLeft) return {};
  if (row.files == Files::kCommitted && !row.copy) TRY(run_.sync());
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
  if (room_.is_open()) plan.room = room_.files().project, plan.room_plan = room_.files().ralph_dir;
  plan.added = plan_.added;
  if (plan.open) plan.carried = carried_;
  return save_plan(plan_.authority, plan);
}

}  // namespace ralph
