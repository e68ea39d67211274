#include "plan/enforce.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

ReviewRules rules_for(Mode mode, std::string story = "A") {
  return {mode, std::move(story), false, 5};
}

// A hand-written plan: odd whitespace, odd order, extra keys.
constexpr std::string_view kByHand = R"({ "branchName":"ralph/shop",
  "description" : "A shop." , "project": "shop",   "_comment": "mine",
  "verifyCommands": [ "make test",
                      "make lint" ],
  "userStories": [
    { "id": "A", "title": "first",  "passes": false, "reviewStatus": null, "reviewCount": 0,
      "acceptanceCriteria": [ "works", "is fast" ], "reviewFeedback": "", "priority": 1, "size": {"x":1} },
    { "title": "second", "id": "B", "notes": "all of it", "passes": true, "reviewStatus": "approved",
      "reviewCount": 2, "acceptanceCriteria": [ "works" ], "reviewFeedback": "fine", "priority": 2 },

    { "id": "C", "title": "third", "dependsOn": ["A"],  "passes":false, "reviewStatus" : null, "reviewCount":0,
      "acceptanceCriteria": ["works"], "reviewFeedback": "", "priority": 3 }
  ]
}
)";

StoryFile by_hand() {
  return story_file_from(std::string(kByHand), "tasks.json").value();
}

struct Change {
  std::string_view from, to;
};

// The text with the first occurrence of each piece replaced.
std::string changed(std::initializer_list<Change> changes, std::string text = std::string(kByHand)) {
  for (const Change& change : changes) {
    const size_t at = text.find(change.from);
    EXPECT_NE(at, std::string::npos) << change.from;
    text.replace(at, change.from.size(), change.to);
  }
  return text;
}

std::string ids_of(const StoryList& tasks) {
  std::vector<std::string> ids;
  for (const Story& one : tasks.stories) ids.push_back(one.id);
  return join(ids, " ");
}

// The result of one edit: the remaining text, and the violations.
struct Row {
  const char* situation;
  Mode mode;
  std::initializer_list<Change> done;
  std::initializer_list<Change> left;  // the changes that remain in tasks.json
  const char* said;                    // empty: no violation
};

TEST(Enforce, TakesBackWhatWasNotAllowedAndLeavesEveryOtherByte) {
  constexpr std::string_view kOpenA = "\"passes\": false, \"reviewStatus\": null, \"reviewCount\": 0";
  constexpr std::string_view kApprovedA = "\"passes\": true, \"reviewStatus\": \"approved\", \"reviewCount\": 1";
  constexpr std::string_view kWaitingA = "\"passes\": false, \"reviewStatus\": \"needs_review\", \"reviewCount\": 0";
  constexpr std::string_view kOpenC = "\"passes\":false, \"reviewStatus\" : null";
  constexpr std::string_view kWaitingC = "\"passes\":false, \"reviewStatus\" : \"needs_review\"";
  const Row rows[] = {
      {"nothing was done", Mode::kImplement, {}, {}, ""},
      {"a legal step", Mode::kImplement, {{kOpenA, kWaitingA}}, {{kOpenA, kWaitingA}}, ""},
      {"a priority, a note and a key of their own",
       Mode::kImplement,
       {{"\"priority\": 1", "\"priority\": 9"}, {"\"size\": {\"x\":1}", "\"notes\": \"\""}},
       {{"\"priority\": 1", "\"priority\": 9"}, {"\"size\": {\"x\":1}", "\"notes\": \"\""}},
       ""},
      {"a title",
       Mode::kImplement,
       {{"\"first\"", "\"1st\""}},
       {},
       "The title of story A is pinned and was put back. It was changed to: 1st; was: first"},
      {"an approval out of turn, with a priority that may stay",
       Mode::kImplement,
       {{kOpenA, kApprovedA}, {"\"priority\": 1", "\"priority\": 9"}},
       {{"\"priority\": 1", "\"priority\": 9"}},
       "Story A had illegal transition: passes false → true, reviewStatus null → approved, reviewCount 0 → 1"},
      {"an approval out of turn beside a legal step",
       Mode::kImplement,
       {{kOpenA, kWaitingA}, {"\"reviewCount\":0", "\"reviewCount\":1"}},
       {{kOpenA, kWaitingA}},
       "Story C had illegal transition: reviewCount 0 → 1"},
      {"two stories at once",
       Mode::kImplement,
       {{"\"dependsOn\": [\"A\"]", "\"dependsOn\": []"}, {kOpenA, kWaitingA}, {kOpenC, kWaitingC}},
       {{"\"dependsOn\": [\"A\"]", "\"dependsOn\": []"}, {kOpenA, kWaitingA}},
       "depends on A"},
      {"an approval taken back",
       Mode::kImplement,
       {{"\"passes\": true, \"reviewStatus\": \"approved\"", kOpenC}},
       {{"\"passes\": true, \"reviewStatus\": \"approved\"", "\"passes\":true, \"reviewStatus\" : \"approved\""}},
       "Story B had illegal transition: passes true → false"},
      {"an approval taken back, and its notes with it",
       Mode::kImplement,
       {{"\"notes\": \"all of it\", \"passes\": true", "\"notes\": \"\", \"passes\": false"},
        {"\"priority\": 1", "\"priority\": 9"}},
       {{"\"priority\": 1", "\"priority\": 9"}},
       "The notes of story B were deleted; they were put back."},
      {"the notes of what is done",
       Mode::kReview,
       {{"\"all of it\"", "\" \""}},
       {},
       "The notes of story B were deleted; they were put back."},
      {"other notes of what is done",
       Mode::kImplement,
       {{"\"all of it\"", "\"less\""}},
       {{"\"all of it\"", "\"less\""}},
       ""},
      {"a feedback of somebody else", Mode::kImplement, {{"\"fine\"", "\"bad\""}}, {}, "reviewFeedback was changed"},
      {"a count as a text",
       Mode::kImplement,
       {{"\"reviewCount\": 2", "\"reviewCount\": \"2\""}},
       {},
       "Story B did not fit the schema (reviewCount: expected a whole number of at least 0, found \"2\" (a string)); "
       "it "
       "was put back as it was."},
      {"a key that is gone", Mode::kImplement, {{"\"reviewCount\": 2,", ""}}, {}, "Story B did not fit the schema"},
      {"a criterion that is gone",
       Mode::kImplement,
       {{"[ \"works\", \"is fast\" ]", "[ \"works\" ]"}},
       {{"[ \"works\", \"is fast\" ]", "[\"works\",\"is fast\"]"}},
       "Acceptance criteria may be added, never removed or changed; those of story A were put back."},
      {"a criterion that was watered down stays besides the old one",
       Mode::kImplement,
       {{"\"is fast\"", "\"is quite fast\""}},
       {{"[ \"works\", \"is fast\" ]", "[\"works\",\"is fast\",\"is quite fast\"]"}},
       "Acceptance criteria"},
      {"a criterion that was added",
       Mode::kImplement,
       {{"\"is fast\"", "\"is fast\", \"is small\""}},
       {{"\"is fast\"", "\"is fast\", \"is small\""}},
       ""},
      {"a branch",
       Mode::kImplement,
       {{"\"ralph/shop\"", "\"main\""}},
       {},
       "branchName is the user's to choose; it is \"ralph/shop\" again."},
      {"a project that is no text",
       Mode::kImplement,
       {{"\"project\": \"shop\"", "\"project\": [1]"}},
       {},
       "project must be a string"},
      {"another project",
       Mode::kImplement,
       {{"\"shop\",   \"_comment\": \"mine\"", "\"Shop\""}},
       {{"\"shop\",   \"_comment\": \"mine\"", "\"Shop\""}},
       ""},
      {"a dependency on nothing",
       Mode::kImplement,
       {{"[\"A\"]", "[\"A\",\"Z\"]"}},
       {},
       "dependsOn of story C named itself or a story that does not exist; that was removed."},
      {"a dependency on itself",
       Mode::kImplement,
       {{"[\"A\"]", "[\"C\"]"}},
       {{"[\"A\"]", "[]"}},
       "dependsOn of story C"},
      {"a circle",
       Mode::kImplement,
       {{"\"size\": {\"x\":1}", "\"dependsOn\": [\"C\"]"}},
       {{"\"size\": {\"x\":1}", "\"dependsOn\": []"}},
       "dependsOn formed a cycle; that of story A was put back."},
      {"a dependency that leads somewhere",
       Mode::kImplement,
       {{"[\"A\"]", "[\"B\", \"A\"]"}},
       {{"[\"A\"]", "[\"B\", \"A\"]"}},
       ""},
  };
  for (const Row& row : rows) {
    const Enforcement result = enforce(by_hand(), changed(row.done), rules_for(row.mode), "tasks.json");
    EXPECT_FALSE(result.replaced) << row.situation << "\n" << messages_of(result.violations);
    EXPECT_EQ(result.file.text, changed(row.left)) << row.situation << "\n" << messages_of(result.violations);
    const std::string said = messages_of(result.violations);
    EXPECT_EQ(said.empty(), std::string_view(row.said).empty()) << row.situation << "\n" << said;
    EXPECT_TRUE(says(said, row.said)) << row.situation << "\n" << said;
    EXPECT_EQ(text_of(result.file.tasks), text_of(tasks_from(result.file.text, "x").value())) << row.situation;
  }
}

TEST(Enforce, VerifyCommandsMayBeAddedNeverRemovedOrChanged) {
  struct Commands {
    std::string_view to;
    std::vector<std::string> left;
    bool taken_back;
  };
  const Commands rows[] = {
      {R"(["make test", "make lint"])", {"make test", "make lint"}, false},
      {R"(["x", "make test", "y", "make lint"])", {"x", "make test", "y", "make lint"}, false},
      {R"(["make lint", "x", "make test"])", {"make test", "make lint", "x"}, true},
      {R"([])", {"make test", "make lint"}, true},
      {R"(null)", {"make test", "make lint"}, true},
      {R"("true")", {"make test", "make lint"}, true},
      {R"(["true"])", {"make test", "make lint", "true"}, true},
      {R"(["make test || true", "make lint"])", {"make test", "make lint", "make test || true"}, true},
      {R"(["make test", "make lint", 7])", {"make test", "make lint"}, true},
      {R"(["make test", "make lint", " "])", {"make test", "make lint"}, true},
  };
  for (const Commands& row : rows) {
    const std::string text = changed({{"[ \"make test\",\n                      \"make lint\" ]", row.to}});
    const Enforcement result = enforce(by_hand(), text, rules_for(Mode::kImplement), "tasks.json");
    EXPECT_EQ(result.file.tasks.verify_commands, row.left) << row.to;
    EXPECT_EQ(!result.violations.empty(), row.taken_back) << row.to;
    EXPECT_FALSE(result.replaced) << row.to;
  }
  const std::string gone = changed({{"\"verifyCommands\"", "\"verify\""}});
  EXPECT_EQ(enforce(by_hand(), gone, rules_for(Mode::kImplement), "x").file.tasks.verify_commands,
            (std::vector<std::string>{"make test", "make lint"}));
}

TEST(Enforce, WhatAnAgentAddedMayBeRemovedAgain) {
  ReviewRules rules = rules_for(Mode::kImplement);
  rules.added = {"make lint"};
  const std::string removed =
      changed({{"[ \"make test\",\n                      \"make lint\" ]", R"(["make test"])"}});
  const Enforcement result = enforce(by_hand(), removed, rules, "tasks.json");
  EXPECT_EQ(result.file.tasks.verify_commands, std::vector<std::string>{"make test"});
  EXPECT_TRUE(result.violations.empty());
  const std::string pinned = changed({{"[ \"make test\",\n                      \"make lint\" ]", R"(["make lint"])"}});
  EXPECT_EQ(enforce(by_hand(), pinned, rules, "tasks.json").file.tasks.verify_commands,
            (std::vector<std::string>{"make test", "make lint"}));
}

TEST(Enforce, APlanWithoutCommandsMayStayWithoutOrGetSome) {
  StoryList tasks = list({story("A")});
  tasks.verify_commands = {};
  json::object document = to_object(tasks);
  document.erase("verifyCommands");
  const StoryFile before = story_file_from(to_pretty_json(document), "x").value();
  EXPECT_TRUE(enforce(before, before.text, rules_for(Mode::kImplement), "x").violations.empty());
  document["verifyCommands"] = json::array{"make"};
  const Enforcement result = enforce(before, to_pretty_json(document), rules_for(Mode::kImplement), "x");
  EXPECT_TRUE(result.violations.empty());
  EXPECT_EQ(result.file.tasks.verify_commands, std::vector<std::string>{"make"});
}

TEST(Enforce, TellsWhichStepWasTaken) {
  const StoryFile before = file_of(list({story("A", waiting()), story("B", rejected())}));
  const Enforcement review =
      enforce(before, text_of(list({story("A", approved()), story("B", rejected())})), rules_for(Mode::kReview), "x");
  EXPECT_EQ(review.moved, "A");
  EXPECT_EQ(review.step, "approved");
  EXPECT_FALSE(review.no_verdict);
  EXPECT_TRUE(review.violations.empty());
  const Enforcement fix = enforce(before, text_of(list({story("A", waiting()), story("B", waiting(1))})),
                                  rules_for(Mode::kReviewFix, "B"), "x");
  EXPECT_EQ(fix.moved, "B");
  EXPECT_EQ(fix.step, "resubmitted");
}

TEST(Enforce, AReviewWithoutAVerdictIsNoViolation) {
  const StoryFile before = file_of(list({story("A", waiting())}));
  const Enforcement result = enforce(before, before.text, rules_for(Mode::kReview), "x");
  EXPECT_TRUE(result.no_verdict);
  EXPECT_TRUE(result.violations.empty());
  EXPECT_EQ(result.moved, "");
}

TEST(Enforce, AnApprovalWithoutNotesIsNone) {
  const StoryFile before = file_of(list({story("A", waiting())}));
  Story mute = story("A", approved());
  mute.notes = "\n";
  const Enforcement result = enforce(before, text_of(list({mute})), rules_for(Mode::kReview), "x");
  EXPECT_EQ(result.file.tasks.stories[0].review, waiting());
  EXPECT_EQ(result.moved + std::string(to_string(result.step)), "");
  ASSERT_EQ(result.violations.size(), 1U) << messages_of(result.violations);
  EXPECT_TRUE(says(result.violations[0].message, "notes are empty: say in notes what was done"));
}

TEST(Enforce, EachViolationIsToldOnce) {
  Story mute = story("A", approved());
  mute.notes = "";
  const Enforcement result =
      enforce(file_of(list({story("A")})), text_of(list({mute})), rules_for(Mode::kImplement), "x");
  EXPECT_EQ(result.violations.size(), 1U) << messages_of(result.violations);
}

TEST(Enforce, DeletedStoriesReturnWhereTheyStood) {
  const std::vector<Story> all = {story("A"), story("B", approved()), story("C"), story("D", rejected())};
  const StoryFile before = file_of(list(all));
  struct Left {
    std::vector<Story> left;
    const char* ids;
    size_t said;
  };
  const Left rows[] = {
      {{all[1], all[2], all[3]}, "A B C D", 1},
      {{all[0], all[2], all[3]}, "A B C D", 1},
      {{all[0], all[1], all[2]}, "A B C D", 1},
      {{all[0], all[3]}, "A B C D", 2},
      {{all[2]}, "A B C D", 3},
      {{}, "A B C D", 4},
      {{all[3], all[0]}, "B C D A", 2},  // reordering is allowed: restored stories precede their old successors
      {{all[0], story("N"), all[3]}, "A N B C D", 2},
      {{story("N")}, "N A B C D", 4},
  };
  for (const Left& row : rows) {
    const Enforcement result = enforce(before, text_of(list(row.left)), rules_for(Mode::kImplement), "x");
    EXPECT_EQ(ids_of(result.file.tasks), row.ids);
    EXPECT_EQ(result.violations.size(), row.said) << messages_of(result.violations);
    EXPECT_TRUE(says(messages_of(result.violations), "Stories may be added, never deleted or renamed."));
    EXPECT_FALSE(result.replaced);
    for (const Story& one : all) EXPECT_EQ(result.file.tasks.find(one.id)->review, one.review) << one.id;
  }
}

TEST(Enforce, AReturningStoryIsWrittenAsItWas) {
  const size_t at = kByHand.find("    { \"title\": \"second\"");
  const size_t end = kByHand.find("    { \"id\": \"C\"");
  std::string text(kByHand);
  text.erase(at, end - at);
  const Enforcement result = enforce(by_hand(), text, rules_for(Mode::kImplement), "x");
  const std::string_view story = kByHand.substr(at + 4, kByHand.find("\"priority\": 2 }") + 15 - at - 4);
  EXPECT_TRUE(says(result.file.text, story)) << result.file.text;
}

TEST(Enforce, ARenamedStoryIsANewOneAndTheOldReturns) {
  const StoryFile before = file_of(list({story("A", approved()), story("B", waiting())}));
  const Enforcement result = enforce(before, text_of(list({story("A2", approved()), story("B", waiting())})),
                                     rules_for(Mode::kReview, "B"), "x");
  EXPECT_EQ(ids_of(result.file.tasks), "A2 A B");
  EXPECT_EQ(result.file.tasks.find("A2")->review, Review{}) << "born approved";
  EXPECT_EQ(result.file.tasks.find("A")->review, approved());
}

TEST(Enforce, AnIdThatStandsTwiceKeepsTheFirst) {
  const StoryFile before = file_of(list({story("A", waiting()), story("B")}));
  const Enforcement result = enforce(before, text_of(list({story("A", waiting()), story("B"), story("A", approved())})),
                                     rules_for(Mode::kReview), "x");
  EXPECT_EQ(ids_of(result.file.tasks), "A B");
  EXPECT_EQ(result.file.tasks.stories[0].review, waiting());
  EXPECT_TRUE(
      says(messages_of(result.violations), "The id A appeared twice in userStories; the second one was removed"));
}

TEST(Enforce, AnIdThatStandsTwiceIsJudgedByTheFirst) {
  const StoryFile before = file_of(list({story("A", waiting()), story("B")}));
  const Enforcement result =
      enforce(before, text_of(list({story("A", approved()), story("B"), story("A", rejected())})),
              rules_for(Mode::kReview), "x");
  EXPECT_EQ(ids_of(result.file.tasks), "A B");
  EXPECT_EQ(result.moved, "A");
  EXPECT_EQ(result.step, "approved");
}

TEST(Enforce, NewStoriesStayIfTheyAreFit) {
  const StoryFile before = file_of(list({story("A")}));
  json::object document = to_object(list({story("A"), story("N"), story("O", waiting(3)), story("P"), story("Q")}));
  json::array& stories = document["userStories"].as_array();
  stories[3].as_object().erase("acceptanceCriteria");
  stories[4].as_object()["id"] = 4;
  stories.emplace_back("a story");
  const Enforcement result = enforce(before, to_pretty_json(document), rules_for(Mode::kImplement), "x");
  EXPECT_EQ(ids_of(result.file.tasks), "A N O");
  EXPECT_EQ(result.file.tasks.find("O")->review, Review{});
  const std::string said = messages_of(result.violations);
  for (const char* part :
       {"New stories must start incomplete",
        "A new story P did not fit the schema (the key \"acceptanceCriteria\" is "
        "missing",
        "A new story did not fit the schema (id: expected a string", "expected an object {...}, found \"a story\""})
    EXPECT_TRUE(says(said, part)) << part << "\nin\n" << said;
}

TEST(Enforce, AStoryIsSplitByAddingPartsThatItDependsOn) {
  const StoryFile before = file_of(list({story("A"), story("B", {}, {"A"})}));
  const std::string text = text_of(list(
      {story("A", {}, {"A.1", "A.2"}), story("A.1", waiting()), story("A.2", {}, {"A.1"}), story("B", {}, {"A"})}));
  const Enforcement result = enforce(before, text, rules_for(Mode::kImplement), "x");
  EXPECT_EQ(result.file.tasks.find("A")->depends_on, (std::vector<std::string>{"A.1", "A.2"}));
  EXPECT_EQ(result.file.tasks.find("A.1")->review, Review{}) << "a new story begins at the beginning";
  EXPECT_EQ(result.violations.size(), 1U) << messages_of(result.violations);
}

TEST(Enforce, ADependencyOnADeletedStoryIsKeptBecauseThatReturns) {
  const StoryFile before = file_of(list({story("A"), story("B")}));
  const Enforcement result = enforce(before, text_of(list({story("B", {}, {"A"})})), rules_for(Mode::kImplement), "x");
  EXPECT_EQ(ids_of(result.file.tasks), "A B");
  EXPECT_EQ(result.file.tasks.find("B")->depends_on, std::vector<std::string>{"A"});
}

TEST(Enforce, ACircleThroughADeletedStoryIsSeen) {
  const StoryFile before = file_of(list({story("A", {}, {"B"}), story("B"), story("C")}));
  const Enforcement result = enforce(before, text_of(list({story("B", {}, {"A"}), story("C", waiting())})),
                                     rules_for(Mode::kImplement, "C"), "x");
  EXPECT_FALSE(result.replaced) << messages_of(result.violations);
  EXPECT_TRUE(result.file.tasks.find("B")->depends_on.empty());
  EXPECT_EQ(result.moved, "C");
}

TEST(Enforce, AnIrreparablePlanIsRestoredEntirely) {
  const StoryFile before = by_hand();
  const std::optional<std::string> rows[] = {
      std::nullopt,
      "",
      "  \n",
      "not JSON",
      "{",
      std::string(kByHand.substr(0, kByHand.size() / 2)),
      "[]",
      "null",
      "{}",
      changed({{"\"userStories\"", "\"stories\""}}),
      changed({{"\"userStories\": [", "\"userStories\": {}, \"x\": ["}}),
      changed({{"\"passes\": false", "\"passes\": false, \"passes\": true"}}),
      std::string(kByHand) + "x",
      std::string(1'000'000, '['),
      std::string("\xff\xfe") + std::string(kByHand),
  };
  for (const auto& text : rows) {
    const Enforcement result = enforce(before, text, rules_for(Mode::kReview), "ralph/tasks.json");
    EXPECT_TRUE(result.replaced) << text.value_or("(nothing)").substr(0, 200);
    EXPECT_EQ(result.file.text, before.text);
    EXPECT_EQ(result.moved + std::string(to_string(result.step)), "");
    ASSERT_EQ(result.violations.size(), 1U);
    EXPECT_TRUE(says(result.violations[0].message, "ralph/tasks.json")) << result.violations[0].message;
    EXPECT_TRUE(says(result.violations[0].message, "it was put back")) << result.violations[0].message;
  }
}

TEST(Enforce, OutsideOfAnIterationPeopleMayAddAndCommandsStay) {
  ReviewRules rules = rules_for(Mode::kReview);
  rules.frozen = true;
  const StoryFile before = file_of(list({story("A", waiting()), story("B")}));
  StoryList now = list({story("A", waiting()), story("B", {}, {"N"}, 7), story("N")});
  const Enforcement added = enforce(before, text_of(now), rules, "x");
  EXPECT_TRUE(added.violations.empty() && !added.no_verdict) << messages_of(added.violations);
  EXPECT_EQ(added.file.text, text_of(now));

  now.stories[0] = story("A", approved());
  now.verify_commands.emplace_back("make more");
  const Enforcement mended = enforce(before, text_of(now), rules, "x");
  EXPECT_EQ(ids_of(mended.file.tasks), "A B N");
  EXPECT_EQ(mended.file.tasks.find("A")->review, waiting());
  EXPECT_EQ(mended.file.tasks.verify_commands, before.tasks.verify_commands) << "they have run without it";
  EXPECT_EQ(mended.violations.size(), 2U) << messages_of(mended.violations);

  rules.skip_review = true;
  now.stories[0] = story("A", {true, ReviewStatus::kNeedsReview, 0, ""});
  EXPECT_FALSE(enforce(before, text_of(now), rules, "x").file.tasks.find("A")->review.passes);
}

TEST(Enforce, WithoutReviewsOneStoryMayPassAfterThoseThatItDependsOn) {
  ReviewRules rules = rules_for(Mode::kImplement, "C");
  rules.skip_review = true;
  const Review passing{true, ReviewStatus::kNone, 0, ""};
  const StoryFile before = file_of(list({story("A"), story("B", {}, {"A"}), story("C"), story("D", passing)}));
  StoryList now = before.tasks;
  for (Story& one : now.stories) one = story(one.id, passing, one.depends_on);
  now.stories.push_back(story("N", passing));
  const Enforcement result = enforce(before, text_of(now), rules, "x");
  for (const char* id : {"A", "B", "N"}) EXPECT_FALSE(result.file.tasks.find(id)->review.passes) << id;
  for (const char* id : {"C", "D"}) EXPECT_TRUE(result.file.tasks.find(id)->review.passes) << id;
  EXPECT_EQ(result.moved + " " + std::string(to_string(result.step)), "C passed");
  const std::string said = messages_of(result.violations);
  EXPECT_TRUE(says(said, "one story only; story A was changed besides C")) << said;
  EXPECT_TRUE(says(said, "Story B passes, but depends on A")) << said;
  EXPECT_TRUE(says(said, "New stories must start incomplete: story N")) << said;
}

TEST(Enforce, WithoutReviewsPassingMayChangeAndReviewFieldsMayNot) {
  ReviewRules rules = rules_for(Mode::kImplement);
  rules.skip_review = true;
  const StoryFile before = file_of(list({story("A"), story("B", waiting()), story("C")}));
  Story a = story("A", {true, ReviewStatus::kNone, 0, ""}), b = story("B", approved(7)), c = story("C", rejected());
  Story n = story("N", approved(3));
  const Enforcement result = enforce(before, text_of(list({a, b, c, n})), rules, "x");
  EXPECT_EQ(result.file.tasks.find("A")->review, (Review{true, ReviewStatus::kNone, 0, ""}));
  EXPECT_EQ(result.file.tasks.find("B")->review, waiting());
  EXPECT_EQ(result.file.tasks.find("C")->review, Review{});
  EXPECT_EQ(result.file.tasks.find("N")->review.status, ReviewStatus::kNone);
  EXPECT_TRUE(says(messages_of(result.violations), "Reviews are switched off for this run: only passes may change"));
  EXPECT_TRUE(enforce(before, text_of(list({a, story("B", waiting()), story("C")})), rules, "x").violations.empty());
}

TEST(Enforce, WithoutReviewsPassingNeedsNotesAndStoriesStay) {
  ReviewRules rules = rules_for(Mode::kImplement);
  rules.skip_review = true;
  const StoryFile before = file_of(list({story("A"), story("B")}));
  Story mute = story("A", {true, ReviewStatus::kNone, 0, ""});
  mute.notes = "";
  const Enforcement result = enforce(before, text_of(list({mute})), rules, "x");
  EXPECT_FALSE(result.file.tasks.find("A")->review.passes);
  EXPECT_EQ(ids_of(result.file.tasks), "A B");
  EXPECT_EQ(result.violations.size(), 2U) << messages_of(result.violations);
}

TEST(Enforce, ItsOwnResultNeedsNoMending) {
  const StoryFile before = by_hand();
  const std::string text =
      changed({{"\"is fast\"", "\"is slow\""}, {"[\"A\"]", "[\"Z\"]"}, {"\"reviewCount\": 2", "\"reviewCount\": 9"}});
  const Enforcement once = enforce(before, text, rules_for(Mode::kImplement), "x");
  EXPECT_EQ(once.violations.size(), 3U) << messages_of(once.violations);
  const Enforcement twice = enforce(before, once.file.text, rules_for(Mode::kImplement), "x");
  EXPECT_EQ(twice.file.text, once.file.text);
  EXPECT_TRUE(twice.violations.empty()) << messages_of(twice.violations);
}

TEST(Enforce, TenThousandStoriesAllTamperedWithAreMendedInNoTime) {
  StoryList tasks = list({}), tampered = list({});
  for (int i = 0; i < 10'000; ++i) {
    tasks.stories.push_back(story(std::to_string(i), waiting()));
    tampered.stories.push_back(story(std::to_string(i), approved(i % 3)));
  }
  const StoryFile before = file_of(tasks);
  const Enforcement result = enforce(before, text_of(tampered), rules_for(Mode::kReview, "1"), "x");
  EXPECT_EQ(result.moved, "1");
  EXPECT_EQ(count_done(result.file.tasks, false), 1U);
  tampered.stories.resize(1);
  EXPECT_EQ(enforce(before, text_of(tampered), rules_for(Mode::kReview), "x").file.tasks.stories.size(), 10'000U);
}

TEST(SetReview, WritesTheFourFieldsOfAStory) {
  const std::string text = text_of(list({story("A"), story("B", rejected())}));
  JsonEdits edits = JsonEdits::of(text, "x").value();
  set_review(edits, 1, {true, ReviewStatus::kApproved, 2, "fine \xff"});
  const auto tasks = tasks_from(replace_all(edits.apply(), "\"notes\": \"\"", "\"notes\": \"n\""), "x");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_EQ(tasks->stories[0].review, Review{});
  EXPECT_EQ(tasks->stories[1].review, (Review{true, ReviewStatus::kApproved, 2, "fine \xEF\xBF\xBD"}));
}

}  // namespace
}  // namespace ralph
