#include "plan/marker.h"

#include <algorithm>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

#include "json/value.h"
#include "os/files.h"
#include "os/process_tree.h"

namespace ralph {
namespace {

constexpr long long kMostReviews = 1'000'000;  // as in the schema of tasks.json

json::object snapshot_of(const Before& before) {
  json::object snapshot;
  for (const std::string& id : before.order) {
    const Review& review = before.stories.at(id).review;
    json::object story;
    story["passes"] = review.passes;
    if (review.status == ReviewStatus::kNone) {
      story["reviewStatus"] = nullptr;
    } else {
      story["reviewStatus"] = to_string(review.status);
    }
    story["reviewCount"] = review.count;
    snapshot[to_json_string(id)] = std::move(story);
  }
  return snapshot;
}

std::optional<Before> before_from_snapshot(const json::value* snapshot) {
  if (!snapshot || !snapshot->is_object()) return std::nullopt;
  Before before;
  for (const auto& member : snapshot->get_object()) {
    Before::OneStory story;
    story.complete = false;
    story.review.passes = find_bool(member.value(), "passes").value_or(false);
    story.review.status =
        review_status_from(find_string(member.value(), "reviewStatus").value_or("null")).value_or(ReviewStatus::kNone);
    story.review.count = std::clamp(find_integer(member.value(), "reviewCount").value_or(0), 0LL, kMostReviews);
    before.order.emplace_back(member.key());
    before.stories.emplace(std::string(member.key()), std::move(story));
  }
  return before;
}

std::string path_of(const std::string& project) {
  return join_path(project, kMarkerFile);
}

}  // namespace

std::string to_text(const Marker& marker) {
  json::object object;
  object["timestamp"] = marker.timestamp;
  object["pid"] = marker.pid;
  object["pidStart"] = marker.pid_start;
  object["max_iterations"] = marker.max_iterations;
  object["mode"] = "direct";
  object["skipReview"] = marker.skip_review;
  object["reviewCap"] = marker.review_cap;
  object["runId"] = marker.run_id;
  object["ralphDir"] = to_json_string(marker.ralph_dir);
  object["iteration"] = marker.iteration;
  if (marker.iteration_mode) object["iterationMode"] = to_string(*marker.iteration_mode);
  if (!marker.story.empty()) object["story"] = to_json_string(marker.story);
  if (marker.snapshot) object["preIterationSnapshot"] = snapshot_of(*marker.snapshot);
  return to_pretty_json(object);
}

Result<Marker> marker_from(std::string_view text, std::string_view where) {
  const auto parsed = parse_json(text, where);
  if (!parsed) return fail(ErrorKind::kInput, "{}; remove it if no plan run is under way", parsed.error().message);
  const json::value& value = *parsed;
  if (!value.is_object())
    return fail(ErrorKind::kInput, "{} is no JSON object; remove it if no plan run is under way", where);
  Marker marker;
  marker.timestamp = find_string(value, "timestamp").value_or("");
  marker.pid = find_integer(value, "pid").value_or(0);
  marker.pid_start = static_cast<unsigned long long>(find_integer(value, "pidStart").value_or(0));
  marker.max_iterations = find_integer(value, "max_iterations").value_or(0);
  marker.run_id = find_string(value, "runId").value_or("");
  marker.ralph_dir = find_string(value, "ralphDir").value_or("");
  marker.skip_review = find_bool(value, "skipReview").value_or(false);
  marker.review_cap = find_integer(value, "reviewCap").value_or(5);
  marker.iteration = find_integer(value, "iteration").value_or(0);
  marker.iteration_mode = from_word<Mode>(find_string(value, "iterationMode").value_or(""));
  marker.story = find_string(value, "story").value_or("");
  marker.snapshot = before_from_snapshot(find(value, "preIterationSnapshot"));
  return marker;
}

Result<std::optional<Marker>> read_marker(const std::string& project) {
  const std::string path = path_of(project);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return std::optional<Marker>();
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::kInput, "{} is not a plain file; remove it if no plan run is under way", path);
  TRY_VALUE(const std::string text, read_file(path));
  TRY_VALUE(Marker marker, marker_from(text, path));
  return std::optional<Marker>(std::move(marker));
}

bool is_live(const Marker& marker) {
  if (marker.pid <= 0) return true;
  if (marker.pid > std::numeric_limits<int>::max()) return false;
  const unsigned long long start = start_time_of(static_cast<int>(marker.pid));
  return start != 0 && (marker.pid_start == 0 || marker.pid_start == start);
}

Result<std::optional<Marker>> live_marker(const std::string& project) {
  TRY_VALUE(std::optional<Marker> marker, read_marker(project));
  if (marker && !is_live(*marker)) marker.reset();
  return marker;
}

void remove_marker(const std::string& project) {
  ::unlink(path_of(project).c_str());
}

}  // namespace ralph
