// Test helpers for plans: concise constructors for stories and lists, and their text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/value.h"
#include "plan/enforce.h"
#include "plan/stories.h"

namespace ralph {

inline const Review kOpen{};
inline Review waiting(std::int64_t count = 0) {
  return {false, ReviewStatus::kNeedsReview, count, ""};
}
inline Review rejected(std::int64_t count = 1, std::string feedback = "mend it") {
  return {false, ReviewStatus::kChangesRequested, count, std::move(feedback)};
}
inline Review approved(std::int64_t count = 1) {
  return {true, ReviewStatus::kApproved, count, ""};
}

inline Story story(std::string id, Review review = {}, std::vector<std::string> depends_on = {}, double priority = 1) {
  Story story;
  story.title = "The title of " + id;
  story.criteria = {"it works", "it is tested"};
  story.notes = review.passes ? "was done" : "";
  story.id = std::move(id);
  story.review = std::move(review);
  story.depends_on = std::move(depends_on);
  story.priority = priority;
  return story;
}

inline StoryList list(std::vector<Story> stories) {
  StoryList list;
  list.project = "shop";
  list.branch = "ralph/shop";
  list.description = "A shop.";
  list.verify_commands = {"make test"};
  list.stories = std::move(stories);
  return list;
}

inline json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

inline json::object to_object(const Story& story) {
  const bool none = story.review.status == ReviewStatus::kNone;
  json::object object;
  object["id"] = story.id;
  object["title"] = story.title;
  object["acceptanceCriteria"] = array_of(story.criteria);
  object["priority"] = story.priority;
  object["passes"] = story.review.passes;
  object["reviewStatus"] = none ? json::value(nullptr) : json::value(to_string(story.review.status));
  object["reviewCount"] = story.review.count;
  object["reviewFeedback"] = story.review.feedback;
  object["notes"] = story.notes;
  object["dependsOn"] = array_of(story.depends_on);
  return object;
}

inline json::object to_object(const StoryList& list) {
  json::object object;
  object["project"] = list.project;
  object["branchName"] = list.branch;
  object["description"] = list.description;
  object["verifyCommands"] = array_of(list.verify_commands);
  json::array stories;
  for (const Story& story : list.stories) stories.push_back(to_object(story));
  object["userStories"] = std::move(stories);
  return object;
}

inline std::string text_of(const StoryList& list) {
  return to_pretty_json(to_object(list));
}
inline StoryFile file_of(const StoryList& list) {
  return {text_of(list), list};
}

inline bool says(std::string_view text, std::string_view part) {
  return to_lower(text).find(to_lower(part)) != std::string::npos;
}

inline std::string messages_of(const std::vector<PlanProblem>& problems) {
  std::string lines;
  for (const PlanProblem& problem : problems)
    lines += fmt::format("[{}] {}: {}\n", to_string(problem.check), problem.story, problem.message);
  return lines;
}

}  // namespace ralph
