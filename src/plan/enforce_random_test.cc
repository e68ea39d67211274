// A hostile agent: random plans, random iterations, arbitrary edits of tasks.json. Whatever it does, ralph's part of an
// iteration (enforce, then settle, as in plan/plan_way.cc) lets no unreviewed story be approved and no pinned content
// disappear.
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/dice_for_tests.h"
#include "journal/words_for_tests.h"
#include "plan/enforce.h"
#include "plan/plans_for_tests.h"
#include "plan/verdict.h"

namespace ralph {
namespace {

StoryFile random_plan(Dice& dice) {
  StoryList tasks = list({});
  tasks.verify_commands = {"make test", "make lint"};
  tasks.verify_commands.resize(dice.below(3));
  for (size_t i = 0, size = 1 + dice.below(5); i < size; ++i) {
    const Review review = dice.any<Review>({kOpen, kOpen, waiting(dice.one_in(2) ? 1 : 0), rejected(1), approved(1)});
    Story one = story(fmt::format("US-{}", i), review, {}, static_cast<double>(dice.below(3)));
    for (size_t j = 0; j < i; ++j) {
      if (dice.one_in(4)) one.depends_on.push_back(fmt::format("US-{}", j));
    }
    one.criteria.resize(1 + dice.below(2));
    tasks.stories.push_back(one);
  }
  return file_of(tasks);
}

// ---- the agent

json::value odd_value(Dice& dice) {
  return dice.any<json::value>({nullptr,
                                true,
                                false,
                                0,
                                1,
                                2,
                                -1,
                                99,
                                0.5,
                                1e300,
                                "",
                                "x",
                                "approved",
                                "needs_review",
                                "changes_requested",
                                "US-0",
                                "US-1",
                                json::array{},
                                json::array{"US-1"},
                                json::array{"it works"},
                                json::object{},
                                json::array{nullptr, nullptr}});
}

// Takes a correct step of the mode, sometimes for a story other than the given one.
void do_the_work(json::array& stories, const Work& work, bool skip_review, Dice& dice) {
  for (json::value& one : stories) {
    json::object* story = one.if_object();
    if (!story || find_string(one, "id") != work.story->id) continue;
    (*story)["notes"] = "was done";
    if (skip_review) {
      (*story)["passes"] = true;
      return;
    }
    if (work.mode != Mode::kReview) {
      (*story)["reviewStatus"] = "needs_review";
      if (work.mode == Mode::kReviewFix) (*story)["reviewFeedback"] = "";
      return;
    }
    const bool good = dice.one_in(2);
    (*story)["reviewCount"] = work.story->review.count + 1;
    (*story)["reviewStatus"] = good ? "approved" : "changes_requested";
    (*story)["passes"] = good;
    if (!good) (*story)["reviewFeedback"] = "mend it";
    return;
  }
}

void cheat_in_story(json::value& one, Dice& dice) {
  static const std::vector<std::string> kKeys = {"id",           "title",       "passes",
                                                 "reviewStatus", "reviewCount", "reviewFeedback",
                                                 "notes",        "dependsOn",   "acceptanceCriteria",
                                                 "priority"};
  json::object* story = one.if_object();
  if (!story) return;
  switch (dice.below(8)) {
    case 0:
      (*story)["passes"] = true;
      (*story)["reviewStatus"] = "approved";
      (*story)["notes"] = "trust me";
      if (json::value* count = story->if_contains("reviewCount"); count && count->is_int64())
        *count = count->get_int64() + static_cast<int>(dice.below(3));
      return;
    case 1:
      story->erase(dice.any(kKeys));
      return;
    case 2:
      (*story)["reviewStatus"] = dice.any<std::string>({"needs_review", "changes_requested", "approved"});
      return;
    case 3:
      (*story)["passes"] = dice.one_in(2);
      return;
    case 4:
      (*story)["dependsOn"] = json::array{fmt::format("US-{}", dice.below(7))};
      return;
    case 5:
      (*story)["notes"] = dice.any<std::string>({"", " ", "x"});
      return;
    default:
      (*story)[dice.any(kKeys)] = odd_value(dice);
      return;
  }
}

void cheat_in_list(json::array& stories, Dice& dice) {
  const auto at = [&] { return stories.begin() + static_cast<std::ptrdiff_t>(dice.below(stories.size())); };
  switch (stories.empty() ? 5 : dice.below(7)) {
    case 0:
      stories.erase(at());
      return;
    case 1:
      stories.insert(at(), json::value(stories[dice.below(stories.size())]));
      return;
    case 2:
      std::swap(*at(), *at());
      return;
    case 3:
      stories.clear();
      return;
    case 4: {
      json::value renamed = stories[dice.below(stories.size())];
      if (renamed.is_object()) renamed.get_object()["id"] = fmt::format("US-{}", dice.below(9));
      *at() = std::move(renamed);
      return;
    }
    case 5:
      stories.push_back(to_object(story(fmt::format("US-{}", dice.below(9)),
                                        dice.any<Review>({kOpen, kOpen, approved(0), waiting(), rejected()}))));
      return;
    default:
      *at() = odd_value(dice);
      return;
  }
}

void cheat_at_the_top(json::object& document, Dice& dice) {
  static const std::vector<std::string> kKeys = {"project", "branchName", "description", "verifyCommands"};
  switch (dice.below(12)) {
    case 0:
      document["userStories"] = odd_value(dice);
      return;
    case 1:
      document.erase("userStories");
      return;
    case 2:
      document["verifyCommands"] = json::array{"true"};
      return;
    case 3:
      document.erase(dice.any(kKeys));
      return;
    default:
      document[dice.any(kKeys)] = odd_value(dice);
      return;
  }
}

std::string cheat_in_text(std::string text, Dice& dice) {
  const size_t at = dice.below(text.size());
  switch (dice.below(8)) {
    case 0:
      text[at] = static_cast<char>(dice.below(256));
      return text;
    case 1:
      return text.substr(0, at);
    case 2:
      return text.insert(at, "\"passes\": true,");
    case 3:
      return replace_all(text, "\"reviewStatus\": null", "\"reviewStatus\": \"approved\"");
    case 4:
      return replace_all(text, "\"passes\": false", "\"passes\": true");
    case 5:
      return replace_all(text, "\"passes\": false", "\"passes\": false, \"passes\": true");
    case 6:
      return "\xEF\xBB\xBF" + text;
    default:
      return replace_all(text, "\n", "\r\n");
  }
}

// tasks.json after the agent: its work, if any, and any number of other edits.
std::optional<std::string> after_the_agent(const StoryFile& before, const Work& work, bool skip_review, Dice& dice) {
  if (dice.one_in(50)) return std::nullopt;
  json::value document = parse_json(before.text, "x").value();
  json::array& stories = document.as_object()["userStories"].as_array();
  if (!dice.one_in(3)) do_the_work(stories, work, skip_review, dice);
  if (dice.one_in(3)) return to_pretty_json(document);
  for (size_t n = dice.below(4); n > 0; --n) {
    if (!stories.empty() && !dice.one_in(3)) {
      cheat_in_story(stories[dice.below(stories.size())], dice);
    } else {
      cheat_in_list(stories, dice);
    }
  }
  if (dice.one_in(6)) cheat_at_the_top(document.as_object(), dice);
  const std::string text = dice.one_in(2) ? to_pretty_json(document) : json::serialize(document);
  return dice.one_in(6) ? cheat_in_text(text, dice) : text;
}

// ---- what must hold, restated independently

// The review fields of the first story with this id in the text; nullopt if unreadable.
std::optional<Review> review_in(const std::optional<std::string>& text, const std::string& id) {
  const auto document = parse_json(text.value_or(""), "x");
  if (!document) return std::nullopt;
  const json::value* stories = find(*document, "userStories");
  if (!stories || !stories->is_array()) return std::nullopt;
  for (const json::value& one : stories->get_array()) {
    if (find_string(one, "id") != id) continue;
    const std::string status(find_string(one, "reviewStatus").value_or("null"));
    return Review{
        find_bool(one, "passes").value_or(false), from_word<ReviewStatus>(status).value_or(ReviewStatus::kNone),
        find_integer(one, "reviewCount").value_or(-1), std::string(find_string(one, "reviewFeedback").value_or(""))};
  }
  return std::nullopt;
}

bool is_approved(const Story* story) {
  return story && story->review.status == ReviewStatus::kApproved;
}

struct Iteration {
  const StoryFile& before;
  const std::optional<std::string>& found;
  const ReviewRules& rules;
  const ChecksEnd& checks;
  const Enforcement& enforced;
  const StoryFile& after;
};

std::string told(const Iteration& it) {
  return fmt::format("{} {}, checks {}\n--- before\n{}\n--- found\n{}\n--- enforced\n{}\n--- after\n{}\n{}",
                     to_string(it.rules.mode), it.rules.story, it.checks.passed ? "pass" : "fail", it.before.text,
                     it.found.value_or("(nothing)"), it.enforced.file.text, it.after.text,
                     messages_of(it.enforced.violations));
}

// Every approval comes from a review of that story or from the cap, and the checks passed.
int expect_approvals_are_earned(const Iteration& it) {
  int earned = 0;
  for (const Story& now : it.after.tasks.stories) {
    const Story* was = it.before.tasks.find(now.id);
    if (!is_approved(&now) || is_approved(was)) continue;
    ++earned;
    EXPECT_FALSE(it.rules.skip_review) << told(it);
    EXPECT_EQ(it.rules.mode, Mode::kReview) << told(it);
    EXPECT_TRUE(it.checks.passed) << told(it);
    if (!was) {
      ADD_FAILURE() << "a story was born approved\n" << told(it);
      continue;
    }
    EXPECT_EQ(was->review.status, ReviewStatus::kNeedsReview) << told(it);
    EXPECT_EQ(now.review.count, was->review.count + 1) << told(it);
    const auto said = review_in(it.found, now.id);
    if (!said) {
      ADD_FAILURE() << "nobody said anything of " << now.id << "\n" << told(it);
      continue;
    }
    EXPECT_EQ(said->count, was->review.count + 1) << told(it);
    if (said->status == ReviewStatus::kApproved) {
      EXPECT_TRUE(said->passes) << told(it);
    } else {
      EXPECT_EQ(said->status, ReviewStatus::kChangesRequested) << told(it);
      EXPECT_GE(said->count, it.rules.review_cap) << told(it);
      EXPECT_TRUE(now.review.feedback.starts_with(kAutoApproved)) << told(it);
    }
  }
  EXPECT_LE(earned, 1) << told(it);
  return earned;
}

// Only ralph revokes an approval, and only because the checks fail.
void expect_approvals_stay(const Iteration& it) {
  for (const Story& was : it.before.tasks.stories) {
    if (is_approved(&was) && it.checks.passed && !it.rules.skip_review) {
      EXPECT_TRUE(is_approved(it.after.tasks.find(was.id))) << told(it);
    }
    if (is_approved(&was)) {
      EXPECT_TRUE(is_approved(it.enforced.file.tasks.find(was.id))) << told(it);
    }
  }
}

void expect_nothing_is_lost(const Iteration& it) {
  EXPECT_EQ(it.after.tasks.branch, it.before.tasks.branch) << told(it);
  const auto contains = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const std::string& command : it.before.tasks.verify_commands)
    EXPECT_TRUE(contains(it.after.tasks.verify_commands, command)) << told(it);
  for (const Story& was : it.before.tasks.stories) {
    const Story* now = it.after.tasks.find(was.id);
    if (!now) {
      ADD_FAILURE() << was.id << " is gone\n" << told(it);
      continue;
    }
    for (const std::string& criterion : was.criteria) EXPECT_TRUE(contains(now->criteria, criterion)) << told(it);
    EXPECT_TRUE(now->review.count >= was.review.count || !it.checks.passed) << told(it);
  }
}

void expect_it_is_in_order(const Iteration& it) {
  const StoryReading reading = read_tasks(it.after.text, "x");
  if (!reading.tasks) {
    ADD_FAILURE() << messages_of(reading.problems) << told(it);
    return;
  }
  EXPECT_EQ(text_of(*reading.tasks), text_of(it.after.tasks)) << told(it);
  if (!it.rules.skip_review) {
    const auto problems = judge_invariants(it.after.tasks, it.rules.review_cap);
    EXPECT_TRUE(problems.empty()) << messages_of(problems) << told(it);
  }
}

// After a kill, the same iteration is judged again. The second time must find no violations.
void expect_enforcing_again_changes_nothing(const Iteration& it) {
  const Enforcement again = enforce(it.before, it.enforced.file.text, it.rules, "x");
  EXPECT_EQ(again.file.text, it.enforced.file.text) << told(it);
  EXPECT_EQ(again.moved, it.enforced.moved) << told(it);
  EXPECT_EQ(again.step, it.enforced.step) << told(it);
  EXPECT_TRUE(again.violations.empty()) << messages_of(again.violations) << told(it);
}

// Any document with a list of stories is repaired in parts, and the agent's other work is kept.
void expect_what_can_be_kept_is_kept(const Iteration& it) {
  const auto document = parse_json(it.found.value_or(""), "x");
  const json::value* stories = document ? find(*document, "userStories") : nullptr;
  EXPECT_EQ(it.enforced.replaced, !stories || !stories->is_array()) << told(it);
}

struct Tally {
  int iterations = 0, approved = 0, completed = 0, mended = 0, replaced = 0;
};

void run_one_plan(unsigned seed, bool skip_review, Tally& tally) {
  Dice dice(seed);
  StoryFile tasks = random_plan(dice);
  const auto cap = static_cast<std::int64_t>(1 + dice.below(4));
  const auto passing = 1 + dice.below(4);
  for (int i = 0; i < 12 && !testing::Test::HasFailure(); ++i) {
    const auto work = next_work(tasks.tasks, skip_review);
    if (!work) {
      EXPECT_EQ(count_done(tasks.tasks, skip_review), tasks.tasks.stories.size()) << "stuck\n" << tasks.text;
      ++tally.completed;
      return;
    }
    const ReviewRules rules{work->mode, work->story->id, skip_review, cap};
    const auto found = after_the_agent(tasks, *work, skip_review, dice);
    const Enforcement enforced = enforce(tasks, found, rules, "x");
    const ChecksEnd checks{!dice.one_in(1 + passing), "it fails"};
    const Verdict verdict = settle(tasks, enforced, rules, checks);
    const Iteration iteration{tasks, found, rules, checks, enforced, verdict.file};
    tally.approved += expect_approvals_are_earned(iteration);
    expect_approvals_stay(iteration);
    expect_nothing_is_lost(iteration);
    expect_it_is_in_order(iteration);
    expect_what_can_be_kept_is_kept(iteration);
    expect_enforcing_again_changes_nothing(iteration);
    ++tally.iterations;
    if (enforced.replaced) ++tally.replaced;
    if (!enforced.replaced && !enforced.violations.empty()) ++tally.mended;
    tasks = verdict.file;
  }
}

TEST(HostileAgent, NeverGetsAStoryApprovedThatNoReviewApproved) {
  Tally tally;
  for (unsigned seed = 0; seed < 200 && !HasFailure(); ++seed) run_one_plan(seed, false, tally);
  // The agent must also have done legal work, or the test proves nothing.
  EXPECT_GT(tally.iterations, 1600);
  EXPECT_GT(tally.approved, 130);
  EXPECT_GT(tally.completed, 25);
  EXPECT_GT(tally.mended, 650);
  EXPECT_GT(tally.replaced, 65);
}

TEST(HostileAgent, NeverGetsAnApprovalWhereReviewsAreSwitchedOff) {
  Tally tally;
  for (unsigned seed = 0; seed < 150 && !HasFailure(); ++seed) run_one_plan(seed, true, tally);
  EXPECT_GT(tally.completed, 50);
  EXPECT_GT(tally.mended, 200);
  EXPECT_EQ(tally.approved, 0);
}

}  // namespace
}  // namespace ralph
