#include "plan/archive_summary.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "plan/statistics.h"
#include "plan/verdict.h"

namespace ralph {
namespace {

constexpr std::string_view kDate = "0000-00-00";

std::string text_of(const json::value& object, std::string_view key) {
  return std::string(find_string(object, key).value_or(""));
}

Story story_of(const json::value& value) {
  Story story;
  story.id = text_of(value, "id");
  story.title = text_of(value, "title");
  story.review.passes = find_bool(value, "passes").value_or(false);
  story.review.status = review_status_in(value);
  story.review.count = std::clamp<std::int64_t>(find_integer(value, "reviewCount").value_or(0), 0, kMostReviews);
  story.review.feedback = text_of(value, "reviewFeedback");
  return story;
}

// By ReviewStatus: for a story that does not pass, and for one that does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kStates = {{
    {"open", "passes, not reviewed"},
    {"needs review", "passes, but needs review"},
    {"changes requested", "passes, but changes were requested"},
    {"approved, but does not pass", "approved"},
}};

std::string_view state_of(const Story& story) {
  if (approved_at_cap(story)) return "approved at the review cap";
  const auto& [open, passes] = kStates[static_cast<size_t>(story.review.status)];
  return story.review.passes ? passes : open;
}

// Text on one line, for a table or a list item.
std::string cell(std::string_view text) {
  std::string line = replace_all(to_valid_utf8(text), "|", "\\|");
  std::replace_if(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return std::string(trim(line));
}

std::string name_of(const Story& story) {
  return story.id.empty() ? "(no id)" : cell(story.id);
}

std::string ids_of(const std::vector<const Story*>& stories) {
  std::vector<std::string> ids;
  for (const Story* story : stories) ids.push_back(name_of(*story));
  return join_for_people(ids);
}

template <class Predicate>
std::vector<const Story*> those(const StoryList& tasks, Predicate predicate) {
  std::vector<const Story*> found;
  for (const Story& story : tasks.stories) {
    if (predicate(story)) found.push_back(&story);
  }
  return found;
}

std::string heading(const PlanFacts& facts) {
  const StoryList& tasks = facts.tasks;
  std::string text = fmt::format("# {}\n\n", tasks.project.empty() ? "A plan" : cell(tasks.project));
  if (!trim(tasks.description).empty()) text += fmt::format("{}\n\n", cell(tasks.description));
  if (!facts.problem.empty()) {
    text += fmt::format(
        "> tasks.json has errors, so this summary may be incomplete; the file itself is next to this one.\n> "
        "{}\n\n",
        replace_all(trim(to_valid_utf8(facts.problem)), "\n", "\n> "));
  }
  text += fmt::format("- Project: {}\n", tasks.project.empty() ? "not known" : cell(tasks.project));
  text += fmt::format("- Branch: {}\n", tasks.branch.empty() ? "not known" : cell(tasks.branch));
  text += fmt::format("- Dates: {} to {}\n", facts.started.empty() ? "not known" : cell(facts.started), facts.ended);
  text += fmt::format("- Stories completed: {} of {}\n", count_done_in_archive(tasks), tasks.stories.size());
  return text;
}

std::string table(const StoryList& tasks) {
  if (tasks.stories.empty()) return "";
  std::string text = "\n## Stories\n\n| Story | Title | State | Reviews |\n| --- | --- | --- | ---: |\n";
  for (const Story& story : tasks.stories) {
    text +=
        fmt::format("| {} | {} | {} | {} |\n", name_of(story), cell(story.title), state_of(story), story.review.count);
  }
  return text;
}

std::string reviews(const StoryList& tasks) {
  if (tasks.stories.empty()) return "";
  std::string text = "\n## Reviews\n\n";
  const ReviewStatistics sum = review_statistics(tasks);
  if (sum.reviewed == 0) return text + "No story was reviewed.\n";
  const std::int64_t most = sum.most->review.count;
  const auto at_most = those(tasks, [&](const Story& story) { return story.review.count == most; });
  const auto at_cap = those(tasks, approved_at_cap);
  text += fmt::format("- Reviews: {} of {}, {:.1f} each on average\n", sum.reviews,
                      count_of(static_cast<unsigned>(sum.reviewed), "story"), sum.average);
  text += fmt::format("- Most reviewed: {} ({})\n", ids_of(at_most), most);
  text += fmt::format("- Approved the first time: {} of {} approved\n", sum.first_time, count_done(tasks, false));
  text += fmt::format("- Approved at the review cap: {}\n", at_cap.empty() ? "none" : ids_of(at_cap));
  if (at_cap.empty()) return text;

  text += "\n## Left open at the review cap\n\n";
  for (const Story* story : at_cap) {
    const std::string_view concerns = trim(trim(story->review.feedback).substr(kAutoApproved.size()));
    text += fmt::format("- {}: {}\n", name_of(*story), replace_all(to_valid_utf8(concerns), "\n", "\n  "));
  }
  return text;
}

std::string not_done(const StoryList& tasks) {
  const auto open = those(tasks, [](const Story& story) { return !is_done_in_archive(story); });
  if (open.empty()) return "";
  std::string text = "\n## Not done\n\n";
  for (const Story* story : open)
    text += fmt::format("- {} ({}): {}\n", name_of(*story), state_of(*story), cell(story->title));
  return text;
}

}  // namespace

PlanFacts facts_from(std::string_view tasks_text) {
  PlanFacts facts;
  const auto document = parse_json(tasks_text, "tasks.json");
  if (!document) {
    facts.problem = document.error().message;
    return facts;
  }
  for (const PlanProblem& problem : read_tasks(tasks_text, "tasks.json").problems) {
    facts.problem += facts.problem.empty() ? "" : "\n";
    facts.problem += problem.message;
  }
  facts.tasks.project = text_of(*document, "project");
  facts.tasks.branch = text_of(*document, "branchName");
  facts.tasks.description = text_of(*document, "description");
  for (const json::value& story : array_at(*document, "userStories")) {
    if (story.is_object()) facts.tasks.stories.push_back(story_of(story));
  }
  return facts;
}

std::string started_in(std::string_view progress_text) {
  constexpr std::string_view kKey = "Started:";
  for (const std::string& line : split(progress_text, '\n')) {
    if (!line.starts_with(kKey)) continue;
    const std::string value = to_valid_utf8(trim(std::string_view(line).substr(kKey.size())));
    const bool is_date =
        value.size() >= kDate.size() && std::equal(kDate.begin(), kDate.end(), value.begin(), [](char pattern, char c) {
          return pattern == '0' ? c >= '0' && c <= '9' : c == pattern;
        });
    if (is_date) return value.substr(0, kDate.size());
    return value.starts_with("{{") ? "" : fit_to_width(value, 60);
  }
  return "";
}

bool is_done_in_archive(const Story& story) {
  return story.review.passes &&
         (story.review.status == ReviewStatus::kApproved || story.review.status == ReviewStatus::kNone);
}

size_t count_done_in_archive(const StoryList& tasks) {
  return those(tasks, is_done_in_archive).size();
}

std::string summary_of(const PlanFacts& facts) {
  return heading(facts) + table(facts.tasks) + reviews(facts.tasks) + not_done(facts.tasks);
}

}  // namespace ralph
