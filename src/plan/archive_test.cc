#include "plan/archive.h"

#include <gtest/gtest.h>

#include "plan/archive_summary.h"

namespace ralph {
namespace {

constexpr std::string_view kTasks = R"({
  "project": "shop", "branchName": "ralph/prices", "description": "Prices of their own.",
  "userStories": [
    {"id": "US-1", "title": "a | b", "acceptanceCriteria": ["x"], "priority": 1, "passes": true,
     "reviewStatus": "approved", "reviewCount": 1, "reviewFeedback": "", "notes": "done"},
    {"id": "US-2", "title": "two", "acceptanceCriteria": ["x"], "priority": 2, "passes": true,
     "reviewStatus": "approved", "reviewCount": 4, "reviewFeedback": "[AUTO-APPROVED AT CAP] slow\nugly", "notes": "n"},
    {"id": "US-3", "title": "three", "acceptanceCriteria": ["x"], "priority": 3, "passes": false,
     "reviewStatus": "changes_requested", "reviewCount": 1, "reviewFeedback": "no", "notes": ""},
    {"id": "US-4", "title": "four", "acceptanceCriteria": ["x"], "priority": 4, "passes": false,
     "reviewStatus": null, "reviewCount": 0, "reviewFeedback": "", "notes": ""}
  ]
})";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(ArchiveName, IsMadeOfPlainCharacters) {
  const std::pair<const char*, const char*> kNames[] = {
      {"ralph/login", "d-ralph-login"},
      {"a b\tc", "d-a-b-c"},
      {"v1.2_x-y", "d-v1.2_x-y"},
      {"grün", "d-gr-n"},
      {"../../etc", "d-etc"},
      {"...", "d-plan"},
      {"", "d-plan"},
      {"///", "d-plan"},
      {"\xff", "d-plan"},
      {"a;rm -rf $HOME`x`", "d-a-rm--rf--HOME-x"},
  };
  for (const auto& [label, name] : kNames) EXPECT_EQ(archive_name("d", label), name) << label;
  EXPECT_LE(archive_name("2026-11-15", std::string(5000, 'x')).size(), 120U);
}

TEST(ArchiveSummary, TellsWhatBecameOfEveryStory) {
  PlanFacts facts = facts_from(kTasks);
  EXPECT_EQ(facts.problem, "");
  facts.started = "2026-11-10";
  facts.ended = "2026-11-15";
  const std::string text = summary_of(facts);
  for (const char* part : {"# shop\n", "Prices of their own.\n", "- Project: shop\n", "- Branch: ralph/prices\n",
                           "- Dates: 2026-11-10 to 2026-11-15\n", "- Stories completed: 2 of 4\n",
                           "| US-1 | a \\| b | approved | 1 |\n", "| US-2 | two | approved at the review cap | 4 |\n",
                           "| US-3 | three | changes requested | 1 |\n", "| US-4 | four | open | 0 |\n",
                           "- Reviews: 6 of 3 stories, 2.0 each on average\n", "- Most reviewed: US-2 (4)\n",
                           "- Approved the first time: 1 of 2 approved\n", "- Approved at the review cap: US-2\n",
                           "- US-2: slow\n  ugly\n", "- US-3 (changes requested): three\n", "- US-4 (open): four\n"}) {
    EXPECT_TRUE(has(text, part)) << part << "\nin\n" << text;
  }
}

TEST(ArchiveSummary, HasNoStatisticsWhereNothingWasReviewed) {
  const std::string text = summary_of(facts_from(
      R"({"project":"p","branchName":"b","description":"","userStories":[{"id":"A","title":"t","acceptanceCriteria":["x"],
          "priority":1,"passes":true,"reviewStatus":null,"reviewCount":0,"reviewFeedback":"","notes":"n"}]})"));
  EXPECT_TRUE(has(text, "No story was reviewed.\n")) << text;
  EXPECT_TRUE(has(text, "| A | t | passes, not reviewed | 0 |")) << text;
  EXPECT_TRUE(has(text, "- Stories completed: 1 of 1\n")) << text;
  EXPECT_FALSE(has(text, "## Not done")) << text;
}

TEST(ArchiveSummary, SaysWhatItCouldNotRead) {
  const PlanFacts broken = facts_from("{\"project\": \"p\"");
  EXPECT_TRUE(broken.tasks.stories.empty());
  EXPECT_TRUE(has(summary_of(broken), "> tasks.json has errors")) << summary_of(broken);

  const PlanFacts odd = facts_from(
      R"({"project": 7, "userStories": [{"id": "A", "title": "t", "passes": "true", "reviewCount": -3}, 5,
          {"id": "B", "passes": true, "reviewStatus": "needs_review"}]})");
  const std::string text = summary_of(odd);
  EXPECT_TRUE(has(text, "- Project: not known\n")) << text;
  EXPECT_TRUE(has(text, "- Stories completed: 0 of 2\n")) << text;
  EXPECT_TRUE(has(text, "| A | t | open | 0 |\n")) << text;
  EXPECT_TRUE(has(text, "| B |  | passes, but needs review | 0 |\n")) << text;
  for (const char* nothing : {"", "null", "[]", "{\"userStories\": {}}"})
    EXPECT_FALSE(summary_of(facts_from(nothing)).empty());
}

TEST(Started, IsADateIfItLooksLikeOne) {
  EXPECT_EQ(started_in("# Log\nStarted: 2026-11-10T20:22:33Z\nPRD: x\n"), "2026-11-10");
  EXPECT_EQ(started_in("Started:   2026-11-10 \r\n"), "2026-11-10");
  EXPECT_EQ(started_in("Started: Tue 10 November"), "Tue 10 November");
  EXPECT_EQ(started_in("Started: {{DATE}}\n"), "");
  EXPECT_EQ(started_in("Started:\n"), "");
  EXPECT_EQ(started_in("It started: 2026-11-10"), "");
  EXPECT_EQ(started_in(""), "");
}

}  // namespace
}  // namespace ralph
