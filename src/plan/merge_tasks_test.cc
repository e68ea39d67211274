#include "plan/merge_tasks.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

const std::string kBase = R"({"verifyCommands": ["a"], "userStories": [
  {"id": "A", "notes": "", "passes": false, "criteria": ["1"]},
  {"id": "B", "notes": ""}
]})";

TEST(WithUsersEdits, AStoryOfTheUserIsAdded) {
  const std::string user = R"({"verifyCommands": ["a"], "userStories": [
  {"id": "A", "notes": "", "passes": false, "criteria": ["1"]},
  {"id": "B", "notes": ""},
  {"id": "C", "notes": "mine"}
]})";
  const std::string review = R"({"verifyCommands": ["a"], "userStories": [
  {"id": "A", "notes": "seen", "passes": true, "criteria": ["1"]},
  {"id": "B", "notes": ""}
]})";
  EXPECT_EQ(with_users_edits(kBase, user, review), R"({"verifyCommands": ["a"], "userStories": [
  {"id": "A", "notes": "seen", "passes": true, "criteria": ["1"]},
  {"id": "B", "notes": ""},
  {"id": "C", "notes": "mine"}
]})");
}

TEST(WithUsersEdits, WhatOnlyTheUserChangedIsTaken) {
  const std::string user = R"({"verifyCommands": ["a", "b"], "userStories": [
  {"id": "A", "notes": "users", "passes": false, "criteria": ["1", "2"]},
  {"id": "B", "notes": "users"}
]})";
  const std::string review = R"({"verifyCommands": ["a"], "userStories": [
  {"id": "A", "notes": "seen", "passes": true, "criteria": ["1"]},
  {"id": "B", "notes": ""},
  {"id": "R", "notes": "found"}
]})";
  EXPECT_EQ(with_users_edits(kBase, user, review), R"({"verifyCommands": ["a", "b"], "userStories": [
  {"id": "A", "notes": "seen", "passes": true, "criteria": ["1", "2"]},
  {"id": "B", "notes": "users"},
  {"id": "R", "notes": "found"}
]})");
}

TEST(WithUsersEdits, WithoutEditsTheReviewStaysAsItIs) {
  EXPECT_EQ(with_users_edits(kBase, kBase, "{\"userStories\": []}"), "{\"userStories\": []}");
  EXPECT_EQ(with_users_edits(kBase, kBase, "no JSON"), "no JSON");
  EXPECT_EQ(with_users_edits(kBase, "no JSON", kBase), kBase);
}

}  // namespace
}  // namespace ralph
