#include "plan/marker.h"

#include <algorithm>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/run_folder.h"
#include "json/value.h"
#include "os/files.h"
#include "os/process_tree.h"
#include "settings/remembered.h"

namespace ralph {
namespace {

json::object snapshot_of(const Before& before) {
  json::object snapshot;
  for (const std::string& id : before.order) {
    const Review& review = before.stories.at(id).review;
    snapshot[to_json_string(id)] = json::object{
        {"passes", review.passes}, {"reviewStatus", to_json(review.status)}, {"reviewCount", review.count}};
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
    story.review.status = review_status_in(member.value());
    story.review.count =
        std::clamp<std::int64_t>(find_integer(member.value(), "reviewCount").value_or(0), 0, kMostReviews);
    before.order.emplace_back(member.key());
    before.stories.emplace(std::string(member.key()), std::move(story));
  }
  return before;
}

}  // namespace

std::string to_text(const Marker& marker) {
  json::object object = json_from(marker);
  object["mode"] = "direct";
  if (!marker.story.empty()) object["story"] = to_json_string(marker.story);
  if (marker.snapshot) object["preIterationSnapshot"] = snapshot_of(*marker.snapshot);
  return to_pretty_json(object);
}

Result<Marker> marker_from(std::string_view text, std::string_view where) {
  const auto parsed = parse_json(text, where);
  if (!parsed) return fail(ErrorKind::kInput, "{}; remove it if no plan run is under way", parsed.error().message);
  if (!parsed->is_object())
    return fail(ErrorKind::kInput, "{} is not a JSON object; remove it if no plan run is under way", where);
  Marker marker = from_json<Marker>(*parsed);
  marker.story = find_string(*parsed, "story").value_or("");
  marker.snapshot = before_from_snapshot(find(*parsed, "preIterationSnapshot"));
  return marker;
}

Result<std::optional<Marker>> read_marker(const std::string& project) {
  const std::string path = join_path(project, kMarkerFile);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return std::optional<Marker>();
  if (!S_ISREG(info.st_mode))
    return fail(ErrorKind::kInput, "{} is not a plain file; remove it if no plan run is under way", path);
  TRY_VALUE(const std::string text, read_file(path));
  TRY_VALUE(Marker marker, marker_from(text, path));
  return std::optional<Marker>(std::move(marker));
}

bool is_live(const Marker& marker) {
  if (marker.pid <= 0 || marker.pid > std::numeric_limits<int>::max()) return false;
  const unsigned long long start = start_time_of(static_cast<int>(marker.pid));
  return start != 0 && (marker.pid_start == 0 || marker.pid_start == start);
}

Result<std::optional<Marker>> live_marker(const std::string& project, const Environment& environment) {
  struct stat info{};
  if (::lstat(join_path(project, kMarkerFile).c_str(), &info) != 0 || info.st_uid != ::geteuid())
    return std::optional<Marker>();
  TRY_VALUE(std::optional<Marker> marker, read_marker(project));
  if (!marker) return marker;
  const std::string run = enclosing_run_id(environment);
  if (!run.empty() && marker->run_id == run) return marker;
  if (!is_live(*marker) || came_with_repository(environment, project, std::string(kMarkerFile))) marker.reset();
  return marker;
}

Status expect_no_run(const std::string& project, std::string_view advice) {
  TRY_VALUE(const auto live, live_marker(project));
  if (!live) return {};
  return fail(ErrorKind::kBusy, "a plan run is under way in {} (pid {}); {}", project, live->pid, advice);
}

void remove_marker(const std::string& project) {
  ::unlink(join_path(project, kMarkerFile).c_str());
}

}  // namespace ralph
