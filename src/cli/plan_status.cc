// ralph plan status: shows the board of a plan.
#include <algorithm>
#include <array>
#include <functional>
#include <unistd.h>
#include <unordered_map>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output_options.h"
#include "cli/plan_folders.h"
#include "cli/registry.h"
#include "os/environment.h"
#include "plan/marker.h"
#include "plan/modes.h"
#include "plan/plan_files.h"
#include "plan/statistics.h"
#include "settings/settings.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    kProjectDirOption,
    kRalphDirOption,
    Option{"skip-review", 0, "", "Count a story that passes as done, as plan run --skip-review does."},
    Option{"json", 0, "", "Print the status as JSON."},
};

struct PlanStatus {
  StoryList tasks;
  std::unordered_map<std::string_view, const Story*> by_id{};
  bool skip_review = false;
  std::int64_t review_cap = 5;
  std::optional<Marker> marker;

  bool done(const Story& story) const { return is_done(story, skip_review); }
  // The story passes but is not approved: a run without reviews left it so.
  bool unreviewed(const Story& story) const {
    return !done(story) && story.review.passes && story.review.status != ReviewStatus::kApproved;
  }
};

std::vector<std::string> open_dependencies(const PlanStatus& status, const Story& story) {
  std::vector<std::string> open;
  for (const std::string& id : story.depends_on) {
    const auto other = status.by_id.find(id);
    if (other != status.by_id.end() && !status.done(*other->second)) open.push_back(id);
  }
  return open;
}

std::string progress_bar(const Style& style, size_t done, size_t total) {
  constexpr size_t kWidth = 24;
  const size_t full = total == 0 ? 0 : done * kWidth / total;
  std::string bar;
  for (size_t i = 0; i < kWidth; ++i) {
    if (style.unicode) {
      bar += i < full ? "█" : "░";
    } else {
      bar += i < full ? '#' : '.';
    }
  }
  return fmt::format("{} {}%", style.green(bar), total == 0 ? 0 : done * 100 / total);
}

std::string story_line(const PlanStatus& status, const Story& story, const Style& style, size_t id_width) {
  std::vector<std::string> facts;
  if (story.review.count > 0) facts.push_back(count_of(static_cast<unsigned long long>(story.review.count), "review"));
  if (const auto open = open_dependencies(status, story); !open.empty() && !status.done(story))
    facts.push_back(fmt::format("waits for {}", join_for_people(open)));
  if (approved_at_cap(story)) facts.emplace_back("approved at the cap");
  const size_t room = std::max<size_t>(style.terminal ? style.width : 160, id_width + 16);
  const size_t for_texts = room - id_width - 4;
  // Keeps a short title even if the facts are long.
  const size_t for_title = std::min<size_t>(display_width(story.title), 10);
  const std::string tail =
      facts.empty() ? "" : fit_to_width(style.dot().data() + join(facts, style.dot()), for_texts - for_title);
  const std::string id = fit_to_width(story.id, id_width);
  return fmt::format("  {}{}  {}{}\n", id, std::string(id_width - display_width(id), ' '),
                     fit_to_width(story.title, for_texts - display_width(tail)), style.dim(tail));
}

void print_column(std::string& out, const PlanStatus& status, const Style& style, const std::string& title,
                  const std::function<bool(const Story&)>& belongs) {
  std::vector<const Story*> stories;
  size_t id_width = 0;
  for (const Story& story : status.tasks.stories) {
    if (!belongs(story)) continue;
    stories.push_back(&story);
    id_width = std::max(id_width, std::min<size_t>(display_width(story.id), 24));
  }
  if (stories.empty()) return;
  std::sort(stories.begin(), stories.end(), [](const Story* a, const Story* b) {
    return a->priority != b->priority ? a->priority < b->priority : a < b;
  });
  out += fmt::format("\n{} {}\n", title, style.dim(fmt::format("({})", stories.size())));
  for (const Story* story : stories) out += story_line(status, *story, style, id_width);
}

// A marker that ralph did not write may lack any of these fields.
std::string run_line(const Marker& marker) {
  const auto clean = [](const std::string& text) { return fit_to_width(text, 100); };
  std::vector<std::string> facts;
  if (marker.pid > 0) facts.push_back(fmt::format("pid {}", marker.pid));
  if (marker.iteration > 0) {
    std::string where = fmt::format("iteration {}", marker.iteration);
    if (marker.max_iterations > 0) where += fmt::format(" of {}", marker.max_iterations);
    if (marker.iteration_mode) {
      const std::string story = marker.story.empty() ? "" : " " + clean(marker.story);
      where += fmt::format(" ({}{})", to_string(*marker.iteration_mode), story);
    }
    facts.push_back(std::move(where));
  }
  if (!marker.timestamp.empty()) facts.push_back(fmt::format("since {}", clean(marker.timestamp)));
  return fmt::format("A run is under way{}{}.\n", facts.empty() ? "" : ": ", join(facts, ", "));
}

void print_status(const PlanStatus& status, const Style& style) {
  const StoryList& tasks = status.tasks;
  const size_t done = count_done(tasks, status.skip_review);
  const auto clean = [](const std::string& text) { return fit_to_width(text, 100); };
  std::string out = style.bold(tasks.project.empty() ? "Plan" : clean(tasks.project));
  if (!tasks.branch.empty()) out += style.dim(fmt::format("{}{}", style.dot(), clean(tasks.branch)));
  out += fmt::format("\n{}  {} of {} done\n", progress_bar(style, done, tasks.stories.size()), done,
                     count_of(tasks.stories.size(), "story"));
  const auto is = [&](ReviewStatus wanted) {
    return [&status, wanted](const Story& story) {
      return !status.done(story) && !status.unreviewed(story) && story.review.status == wanted;
    };
  };
  print_column(out, status, style, style.red("Changes requested"), is(ReviewStatus::kChangesRequested));
  print_column(out, status, style, style.yellow("Needs review"), is(ReviewStatus::kNeedsReview));
  print_column(out, status, style, style.cyan("To do"), [&](const Story& story) {
    return !status.done(story) && !status.unreviewed(story) && story.review.status != ReviewStatus::kChangesRequested &&
           story.review.status != ReviewStatus::kNeedsReview;
  });
  print_column(out, status, style, style.yellow("Passes, not reviewed"),
               [&](const Story& story) { return status.unreviewed(story); });
  print_column(out, status, style, style.green("Done"), [&](const Story& story) { return status.done(story); });

  out += '\n';
  if (const auto work = next_work(tasks, status.skip_review)) {
    out += fmt::format("Next: {} {} ({})\n", to_string(work->mode), clean(work->story->id), clean(work->story->title));
    const int left = estimate_iterations(tasks, status.skip_review);
    out += fmt::format("About {} left.\n", count_of(static_cast<unsigned>(left), "iteration"));
  } else if (done == tasks.stories.size()) {
    out += "All stories are done.\n";
  } else {
    out += "Nothing is left to do, but not all is done; 'ralph plan check' says what is wrong.\n";
  }
  if (std::any_of(tasks.stories.begin(), tasks.stories.end(), [&](const Story& s) { return status.unreviewed(s); }))
    out += "A story that passes without a review is done only with --skip-review.\n";
  if (const std::string reviews = review_sentence(review_statistics(tasks)); !reviews.empty())
    out += fmt::format("Reviews: {}.\n", reviews);
  if (status.marker) out += run_line(*status.marker);
  fmt::print("{}", out);
}

json::object plan_to_json(const PlanStatus& status) {
  json::object object;
  object["project"] = to_json_string(status.tasks.project);
  object["branchName"] = to_json_string(status.tasks.branch);
  object["stories"] = status.tasks.stories.size();
  object["done"] = count_done(status.tasks, status.skip_review);
  object["skipReview"] = status.skip_review;
  object["reviewCap"] = status.review_cap;
  const auto work = next_work(status.tasks, status.skip_review);
  if (work) {
    object["nextMode"] = to_string(work->mode);
    object["nextStory"] = to_json_string(work->story->id);
  }
  object["estimatedIterations"] = work ? estimate_iterations(status.tasks, status.skip_review) : 0;
  const ReviewStatistics statistics = review_statistics(status.tasks);
  object["reviews"] = json::object{{"total", statistics.reviews},
                                   {"stories", statistics.reviewed},
                                   {"average", statistics.average},
                                   {"firstTimeApprovals", statistics.first_time},
                                   {"approvedAtCap", statistics.at_cap}};
  json::array stories;
  for (const Story& story : status.tasks.stories) {
    json::object one;
    one["id"] = to_json_string(story.id);
    one["title"] = to_json_string(story.title);
    one["priority"] = story.priority;
    one["done"] = status.done(story);
    one["passes"] = story.review.passes;
    one["reviewStatus"] = ralph::to_json(story.review.status);
    one["reviewCount"] = story.review.count;
    one["waitsFor"] = to_json_array(open_dependencies(status, story));
    stories.push_back(std::move(one));
  }
  object["userStories"] = std::move(stories);
  object["running"] = status.marker.has_value();
  return object;
}

Result<int> show_plan_status(const Arguments& arguments) {
  TRY_VALUE(const PlanFiles files, plan_folders(arguments));
  TRY(check_plan_folder(files));
  TRY_VALUE(const LoadedSettings loaded, load_settings(files.project));
  PlanStatus status;
  TRY_VALUE(const std::string text, require_plain_file(files.tasks(), "'ralph plan init' creates one"));
  TRY_VALUE(status.tasks, tasks_from(text, files.tasks()));
  for (const Story& story : status.tasks.stories) status.by_id.emplace(story.id, &story);
  TRY_VALUE(status.marker, live_marker(files.project));
  status.skip_review =
      arguments.has("skip-review") || (status.marker ? status.marker->skip_review : loaded.settings.plan.skip_review);
  status.review_cap = status.marker ? status.marker->review_cap : loaded.settings.plan.review_cap;
  if (arguments.has("json")) {
    fmt::print("{}", to_pretty_json(plan_to_json(status)));
  } else {
    print_status(status, style_of_output(Environment::of_this_process()));
  }
  return 0;
}

}  // namespace

const Command kPlanStatus = {
    "plan status",
    "Show a plan's stories by state, what comes next, and how much is left.",
    "Reads ralph/tasks.json and changes nothing. The estimated number of iterations is based on the reviews that the\n"
    "stories have needed so far.",
    "ralph plan status\n       ralph plan status --json",
    kOptions,
    {},
    show_plan_status,
};

}  // namespace ralph::cli
