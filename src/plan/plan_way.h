// `ralph plan run`: each iteration is one story, one mode and one fresh agent. Afterwards ralph checks the changes to
// the plan, reverts what was not allowed, and decides the outcome of the story.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "engine/way.h"
#include "os/lock.h"
#include "plan/aftermath.h"
#include "plan/authority.h"
#include "plan/enforce.h"
#include "plan/marker.h"
#include "plan/modes.h"
#include "plan/plan_files.h"

namespace ralph {

// The parameters and the starting state of a plan run.
struct PlanStart {
  PlanFiles files;
  std::array<Agents, 3> agents;  // by Mode
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::string authority{};  // the path of the copy outside the project
  std::string work_tree{};  // the top-level folder of the repository
  StoryFile tasks{};
  // What the last run left: it was killed in the middle of an iteration (open; `tasks` is its copy), or asked to stop
  // before the checks (a step is pending; `tasks` is the current file).
  std::optional<SavedPlan> unfinished{};
  PinnedFiles pinned{};
  std::map<std::string, std::string> bases{};  // by story: the commit before its first iteration
  Marker marker{};
};

class PlanWay : public Way {
 public:
  // `run` and `settings` must outlive the way.
  PlanWay(Run& run, const Settings& settings, PlanStart start);

  Result<std::optional<Agents>> begin() override;
  Result<NextTurn> next() override;
  Status after_turn(const Decision& decision) override;
  Result<IterationChecks> checks() override;
  Status after_checks(const Decision& decision) override;
  Result<Observation> observe() override;

 private:
  enum class Stage;

  const StoryList& tasks() const { return plan_.tasks.tasks; }
  Agents agents() const { return plan_.agents[static_cast<size_t>(rules_.mode)]; }
  bool passed() const { return run_.progress().guardrails_failed.empty(); }
  ChecksEnd checks_end() const;

  Status hold_plan();
  Status note_work(const Work& work);
  void note_base(const Work& work);
  Result<std::string> prompt_for(const Work& work);
  std::string iteration_in_words() const;
  Status write_marker();
  Status enter(Stage stage);
  Status save(SavedPlan::State state);
  Status leave_unchecked();
  Status judge_again();
  Status note_checked(bool judged);

  Run& run_;
  const Settings& settings_;
  PlanStart plan_;
  Repository repository_;
  std::optional<Lock> lock_;
  ReviewRules rules_;
  std::string marker_text_, branch_, head_;
  std::string reviewed_;                // the commit that the last review began with
  std::optional<PendingStep> pending_;  // the step that waits for its checks
  bool history_checked_ = false;

  // The iteration whose turn is over.
  std::optional<Aftermath> aftermath_;
  Enforcement enforced_;
  StoryFile before_;
  Verdict verdict_;
  bool judged_ = false, passed_when_judged_ = false;
};

}  // namespace ralph
