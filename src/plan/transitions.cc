#include "plan/transitions.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_set>

#include "base/text.h"

namespace ralph {
namespace {

struct Step {
  Mode mode;
  ReviewStatus from, to;
  bool passes;           // afterwards
  std::int64_t reviews;  // added to reviewCount
  bool needs_feedback;
  StoryStep name;
};

// The steps of a story that does not pass yet. An iteration moves at most one story by one step.
constexpr std::array kSteps = {
    Step{Mode::kImplement, ReviewStatus::kNone, ReviewStatus::kNeedsReview, false, 0, false, StoryStep::kSubmitted},
    Step{Mode::kReview, ReviewStatus::kNeedsReview, ReviewStatus::kApproved, true, 1, false, StoryStep::kApproved},
    Step{Mode::kReview, ReviewStatus::kNeedsReview, ReviewStatus::kChangesRequested, false, 1, true,
         StoryStep::kChangesRequested},
    Step{Mode::kReviewFix, ReviewStatus::kChangesRequested, ReviewStatus::kNeedsReview, false, 0, false,
         StoryStep::kResubmitted},
};

const Step* step_of(const Review& before, const Review& after, Mode mode) {
  const auto* const found = std::find_if(kSteps.begin(), kSteps.end(), [&](const Step& step) {
    return step.mode == mode && step.from == before.status && !before.passes && step.to == after.status &&
           step.passes == after.passes && before.count + step.reviews == after.count &&
           (!step.needs_feedback || !trim(after.feedback).empty());
  });
  return found == kSteps.end() ? nullptr : found;
}

bool unchanged(const Before::OneStory& before, const Review& after) {
  const Review& was = before.review;
  return was.passes == after.passes && was.status == after.status && was.count == after.count &&
         (!before.complete || was.feedback == after.feedback);
}

std::string_view yes_or_no(bool value) {
  return value ? "true" : "false";
}

// "passes false → true, reviewCount 0 → 1"
std::string changes(const Before::OneStory& before, const Review& after) {
  const Review& was = before.review;
  std::vector<std::string> parts;
  if (was.passes != after.passes)
    parts.push_back(fmt::format("passes {} → {}", yes_or_no(was.passes), yes_or_no(after.passes)));
  if (was.status != after.status)
    parts.push_back(fmt::format("reviewStatus {} → {}", to_string(was.status), to_string(after.status)));
  if (was.count != after.count) parts.push_back(fmt::format("reviewCount {} → {}", was.count, after.count));
  if (before.complete && was.feedback != after.feedback) parts.emplace_back("reviewFeedback was changed");
  return join(parts, ", ");
}

std::string review_details(const Before::OneStory& before, const Review& after) {
  const Review& was = before.review;
  const std::string what = changes(before, after);
  if (was.status != ReviewStatus::kNeedsReview || was.passes)
    return fmt::format("{}; only a story whose reviewStatus is needs_review can be reviewed", what);
  if (after.count != was.count + 1)
    return fmt::format("{}; a review must increment reviewCount by 1, from {} to {}", what, was.count, was.count + 1);
  if (after.status == ReviewStatus::kChangesRequested && !after.passes)
    return fmt::format("{}; reviewFeedback is empty: say what has to be fixed and where", what);
  return fmt::format(
      "{}; a review ends in reviewStatus approved with passes true, or in changes_requested with passes false", what);
}

std::string explain(const std::string& id, const Before::OneStory& before, const Review& after,
                    const ReviewRules& rules) {
  if (rules.frozen)
    return fmt::format("Only iterations may change review fields. Story {} was changed outside of one: {}.", id,
                       changes(before, after));
  if (rules.mode == Mode::kImplement)
    return fmt::format(
        "Implement iterations cannot set passes=true, approve stories or increment reviewCount. Only review "
        "iterations may approve. Story {} had illegal transition: {}.",
        id, changes(before, after));
  if (rules.mode == Mode::kReview)
    return fmt::format("Review iteration made illegal transition on story {}: {}.", id, review_details(before, after));
  return fmt::format(
      "Review-fix iterations cannot approve stories or increment reviewCount. Story {} must go back to needs_review "
      "for "
      "re-review. Illegal transition: {}.",
      id, changes(before, after));
}

// By Mode.
constexpr std::array<std::string_view, 3> kOnlyOne = {"An implement iteration may submit one story only",
                                                      "A review may only modify one story",
                                                      "A review-fix iteration may resubmit one story only"};

bool waits_for_another(const Before& before, const Before::OneStory& story) {
  return std::any_of(story.depends_on.begin(), story.depends_on.end(), [&](const std::string& id) {
    const auto other = before.stories.find(id);
    return other == before.stories.end() || other->second.review.status != ReviewStatus::kApproved;
  });
}

// If several stories took a legal step, only one is allowed: the given story, else the first.
class Judge {
 public:
  Judge(const Before& before, const StoryList& after, const ReviewRules& rules)
      : before_(before), after_(after), rules_(rules) {}

  Judgement judge() {
    for (const Story& story : after_.stories) look_at(story);
    const Story* const chosen = choose();
    for (const auto& [story, step] : movers_) {
      if (story == chosen) {
        result_.moved = story->id;
        result_.step = step->name;
      } else {
        refuse(story->id, fmt::format("{}; story {} was changed besides {}.",
                                      kOnlyOne[static_cast<size_t>(rules_.mode)], story->id, chosen->id));
      }
    }
    if (rules_.mode == Mode::kReview && !rules_.frozen && !rules_.said && movers_.empty() && result_.illegal.empty()) {
      result_.no_verdict = true;
      result_.problems.push_back(
          {Check::kTransitions, rules_.story,
           fmt::format("The review gave no verdict: a review must increment reviewCount of {} and set "
                       "reviewStatus to approved (with passes true) or to changes_requested (with reviewFeedback).",
                       story_to_review())});
    }
    return std::move(result_);
  }

 private:
  // A marker that something else wrote need not name the iteration's story.
  std::string story_to_review() const {
    if (!rules_.story.empty()) return fmt::format("story {}", rules_.story);
    std::vector<std::string> waiting;
    for (const std::string& id : before_.order) {
      if (before_.stories.at(id).review.status == ReviewStatus::kNeedsReview) waiting.push_back(id);
    }
    if (waiting.size() == 1) return fmt::format("story {}", waiting.front());
    return waiting.empty() ? "the reviewed story"
                           : fmt::format("the reviewed story (one of {})", join_for_people(waiting));
  }

  void look_at(const Story& story) {
    const auto was = before_.stories.find(story.id);
    if (was == before_.stories.end()) {
      check_new_story(story);
    } else if (!unchanged(was->second, story.review)) {
      const Step* step = rules_.frozen ? nullptr : step_of(was->second.review, story.review, rules_.mode);
      if (!step) return refuse(story.id, explain(story.id, was->second, story.review, rules_));
      if (rules_.mode == Mode::kImplement && waits_for_another(before_, was->second)) {
        return refuse(story.id, fmt::format("Story {} was submitted, but depends on {}: not all of that is approved.",
                                            story.id, join_for_people(was->second.depends_on)));
      }
      movers_.emplace_back(&story, step);
    }
  }

  void check_new_story(const Story& story) {
    const Review& review = story.review;
    if (!review.passes && review.status == ReviewStatus::kNone && review.count == 0) return;
    refuse(story.id,
           fmt::format("New stories must start incomplete: passes false, reviewStatus null, reviewCount 0. Story {} "
                       "began with passes {}, reviewStatus {}, reviewCount {}.",
                       story.id, yes_or_no(review.passes), to_string(review.status), review.count));
  }

  void refuse(const std::string& id, std::string why) {
    result_.illegal.push_back(id);
    result_.problems.push_back({Check::kTransitions, id, std::move(why)});
  }

  const Story* choose() const {
    if (movers_.empty()) return nullptr;
    const auto given = std::find_if(movers_.begin(), movers_.end(),
                                    [&](const auto& mover) { return mover.first->id == rules_.story; });
    return given == movers_.end() ? movers_.front().first : given->first;
  }

  const Before& before_;
  const StoryList& after_;
  const ReviewRules& rules_;
  std::vector<std::pair<const Story*, const Step*>> movers_;
  Judgement result_;
};

bool is_fully_known(const Before* before, const std::string& id) {
  if (!before) return false;
  const auto story = before->stories.find(id);
  return story != before->stories.end() && story->second.complete;
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(fmt::format("\"{}\"", text));
  return join_for_people(quoted);
}

}  // namespace

Before before_from(const StoryList& tasks, const std::vector<std::string>& added) {
  Before before;
  before.stories.reserve(tasks.stories.size());
  for (const Story& story : tasks.stories) {
    before.stories.emplace(story.id, Before::OneStory{story.review, story.criteria, story.depends_on, true, story.title,
                                                      story.description});
    before.order.push_back(story.id);
  }
  before.verify_commands = missing_from(tasks.verify_commands, added);
  before.branch = tasks.branch;
  return before;
}

Judgement judge_transitions(const Before& before, const StoryList& after, const ReviewRules& rules) {
  return Judge(before, after, rules).judge();
}

std::vector<std::string> missing_from(const std::vector<std::string>& pinned, const std::vector<std::string>& now) {
  std::vector<std::string> missing;
  const std::unordered_set<std::string_view> there(now.begin(), now.end());
  for (const std::string& one : pinned) {
    if (!there.contains(one)) missing.push_back(one);
  }
  return missing;
}

std::vector<PlanProblem> judge_pins(const Before& before, const StoryList& after) {
  std::vector<PlanProblem> problems;
  const auto add = [&](const std::string& story, std::string message) {
    problems.push_back({Check::kTransitions, story, std::move(message)});
  };
  std::unordered_set<std::string_view> there;
  for (const Story& story : after.stories) {
    there.insert(story.id);
    const auto was = before.stories.find(story.id);
    if (was == before.stories.end() || !was->second.complete) continue;
    if (const auto missing = missing_from(was->second.criteria, story.criteria); !missing.empty())
      add(story.id, fmt::format("Acceptance criteria may be added, never removed or changed. Story {} lost {}.",
                                story.id, quoted_list(missing)));
  }
  for (const Story& story : after.stories) {
    const auto was = before.stories.find(story.id);
    if (was == before.stories.end() || !was->second.complete) continue;
    for (const auto& [name, then, now] :
         {std::tuple<std::string_view, const std::string&, const std::string&>{"title", was->second.title, story.title},
          {"description", was->second.description, story.description}}) {
      if (then != now) add(story.id, fmt::format("The {} of story {} is pinned; was: {}", name, story.id, then));
    }
  }
  for (const std::string& id : before.order) {
    if (!there.contains(id))
      add(id, fmt::format("Stories may be added, never deleted or renamed. Story {} is gone.", id));
  }
  const auto commands = missing_from(before.verify_commands.value_or(after.verify_commands), after.verify_commands);
  if (!commands.empty())
    add("", fmt::format("verifyCommands may be added, never removed or changed. {} is gone.", quoted_list(commands)));
  if (before.branch && *before.branch != after.branch)
    add("", fmt::format("branchName was changed from \"{}\" to \"{}\"; it is the user's to choose.", *before.branch,
                        after.branch));
  return problems;
}

std::vector<PlanProblem> judge_invariants(const StoryList& tasks, std::optional<std::int64_t> review_cap,
                                          const Before* before) {
  std::vector<PlanProblem> problems;
  for (const Story& story : tasks.stories) {
    const Review& review = story.review;
    const auto add = [&](std::string message) {
      problems.push_back({Check::kInvariants, story.id, std::move(message)});
    };
    if (review.passes && review.status != ReviewStatus::kApproved) {
      add(
          fmt::format("Story {} has passes=true but reviewStatus is '{}', not 'approved'. Only review iterations may "
                      "approve stories. Set passes back to false or complete the review cycle.",
                      story.id, to_string(review.status)));
    }
    if (review.status == ReviewStatus::kApproved && !review.passes) {
      add(fmt::format(
          "Story {} has reviewStatus 'approved' but passes is false; the two are out of sync. Set passes to "
          "true or reviewStatus back.",
          story.id));
    }
    if (review.status == ReviewStatus::kChangesRequested && trim(review.feedback).empty()) {
      add(fmt::format(
          "Story {} has reviewStatus 'changes_requested' but reviewFeedback is empty; feedback is required: "
          "say what has to be fixed.",
          story.id));
    }
    if (review_cap && review.count - 1 > *review_cap && !review.passes && !is_fully_known(before, story.id)) {
      add(fmt::format(
          "Story {} has reviewCount {}, which is more than the review cap of {} allows. Set it to the number "
          "of reviews that took place.",
          story.id, review.count, *review_cap));
    }
  }
  return problems;
}

}  // namespace ralph
