// `ralph plan run`: each iteration is one story, one mode and one fresh agent. Afterwards ralph checks the changes to
// the plan, reverts illegal ones, and decides the outcome of the story.
#pragma once

#include <array>
#include <optional>

#include "engine/way.h"
#include "plan/aftermath.h"
#include "plan/clean_room.h"
#include "plan/marker.h"
#include "plan/start.h"
#include "plan/tree_watch.h"

namespace ralph {

class PlanWay : public Way {
 public:
  // `run` and the agents (by Mode) must outlive the way.
  PlanWay(Run& run, PlanRun plan, std::array<Agents, 3> agents, Marker marker);

  Result<std::optional<Agents>> begin() override;
  std::span<const GuardrailSettings> baselines() const override { return settings().guardrails; }
  Result<NextTurn> next() override;
  Status after_turn(const Decision& decision) override;
  Status put_back(const std::vector<std::string>& paths) override;
  Result<IterationChecks> checks() override;
  Status after_checks(const Decision& decision) override;
  Result<Observation> observe() override;
  Status finish(const Decision& decision) override;

 private:
  // The stages of an iteration. The table in plan_way_stages.cc defines what each one establishes. If ralph is killed
  // between stages, the next run continues from the last saved copy.
  enum class Stage { kOpen, kFrozen, kEnforced, kRestored, kHeld, kJudged, kClosed };

  const StoryList& tasks() const { return plan_.tasks.tasks; }
  const Settings& settings() const { return plan_.loaded.settings; }
  Agents agents() const { return agents_[static_cast<size_t>(rules_.mode)]; }
  bool passed() const { return run_.progress().checks_hold(); }
  Result<ChecksEnd> checks_end();
  SaidReview said_review() const;

  Status hold_plan();
  void find_left_review();
  Status note_work(const Work& work, bool in_room);
  void note_base(const Work& work);
  Result<std::string> prompt_for(const Work& work);
  std::string iteration_in_words() const;
  Status take_from_room();
  Status write_marker();
  Status enter(Stage stage);
  Status save(SavedPlan::State state);
  void note_verify_commands();
  Status leave_unchecked();
  Status judge_again(const ChecksEnd& end);
  void tell_objections(const ChecksEnd& end);
  Status look_for_uncommitted();
  Status look_for_dropped(std::vector<std::string>& uncommitted);
  bool all_done() const { return count_done(tasks(), plan_.skip_review()) == tasks().stories.size(); }
  Status note_checked(bool judged);

  Run& run_;
  PlanRun plan_;
  const std::array<Agents, 3> agents_;
  Marker marker_;
  Repository repository_;
  TreeWatch tree_;
  CleanRoom room_;
  std::optional<Lock> lock_;
  ReviewRules rules_;
  std::string marker_text_, branch_, head_, prompt_;
  std::string reviewed_;                // the commit that the last review began with
  std::string left_review_;             // the commit of an earlier run's review, to be checked in a clean checkout
  std::optional<PendingStep> pending_;  // the step that waits for its checks
  std::vector<std::string> carried_;    // files of this iteration's review that are already in the project
  bool history_checked_ = false;

  // The iteration whose turn is over.
  std::optional<Aftermath> aftermath_;
  Enforcement enforced_;
  StoryFile before_;
  Verdict verdict_;
  bool judged_ = false, passed_when_judged_ = false;
  bool has_checks_ = false;  // something runs between TreeWatch::before_checks() and after_checks()
};

}  // namespace ralph
