#include "plan/merge_tasks.h"

#include <map>

#include "json/edit.h"
#include "json/schema.h"

namespace ralph {
namespace {

constexpr std::string_view kStories = "/userStories";

// The position of each story, by id.
std::map<std::string, size_t> places_of_stories(const json::value& document) {
  std::map<std::string, size_t> places;
  const json::array& stories = array_at(document, kStories.substr(1));
  for (size_t i = 0; i < stories.size(); ++i) {
    if (const auto id = find_string(stories[i], "id")) places.emplace(*id, i);
  }
  return places;
}

struct Version {
  json::value document;
  JsonEdits edits;
  std::map<std::string, size_t> stories;

  std::string pointer_to(const std::string& story) const {
    const auto place = stories.find(story);
    return place == stories.end() ? "" : fmt::format("{}/{}", kStories, place->second);
  }
};

Result<Version> version_of(const std::string& text) {
  TRY_VALUE(json::value document, parse_json(text, ""));
  TRY_VALUE(JsonEdits edits, JsonEdits::of(text, ""));
  auto stories = places_of_stories(document);
  return Version{std::move(document), std::move(edits), std::move(stories)};
}

// Copies the members of an object that only the user changed into `review`.
void take_members(const json::value& object, const Version& base, const std::string& in_base, const Version& user,
                  const std::string& in_user, Version& review, const std::string& in_review) {
  for (const auto& member : object.is_object() ? object.get_object() : json::object()) {
    const std::string key = child_pointer("", member.key());
    if (in_user.empty() && key == kStories) continue;
    const auto was = base.edits.raw(in_base + key), is = user.edits.raw(in_user + key);
    if (is && was != is && review.edits.raw(in_review + key) == was) review.edits.set_raw(in_review + key, *is);
  }
}

}  // namespace

std::string with_users_edits(const std::string& base, const std::string& user, const std::string& review) {
  auto was = version_of(base), now = version_of(user), reviewed = version_of(review);
  if (!was || !now || !reviewed || !reviewed->edits.has(kStories)) return review;
  take_members(now->document, *was, "", *now, "", *reviewed, "");
  for (const auto& [id, place] : now->stories) {
    const std::string at = now->pointer_to(id);
    if (was->stories.contains(id) && reviewed->stories.contains(id)) {
      take_members(find(now->document, kStories.substr(1))->get_array()[place], *was, was->pointer_to(id), *now, at,
                   *reviewed, reviewed->pointer_to(id));
    } else if (!was->stories.contains(id) && !reviewed->stories.contains(id)) {
      reviewed->edits.insert_raw(kStories, reviewed->stories.size(), *now->edits.raw(at));
    }
  }
  return reviewed->edits.apply();
}

}  // namespace ralph
