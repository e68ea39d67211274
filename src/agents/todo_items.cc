#include "agents/todo_items.h"

#include <algorithm>

#include "base/utf8.h"

namespace ralph {
namespace {

constexpr size_t kMostItems = 1000;
constexpr size_t kLongestText = 2000;  // characters

event::TodoStatus status_of(std::string_view status) {
  if (status == "completed" || status == "done") return event::TodoStatus::kDone;
  return status == "in_progress" || status == "in-progress" ? event::TodoStatus::kActive : event::TodoStatus::kPending;
}

bool is_gone(std::string_view status) {
  return status == "cancelled" || status == "deleted";
}

std::string text_of(JsonView item) {
  for (const std::string_view key : {"content", "subject", "text", "description"}) {
    if (const std::string_view text = item[key].text(); !text.empty()) {
      return std::string(prefix_of_characters(text, kLongestText));
    }
  }
  return std::string(prefix_of_characters(item.text(), kLongestText));
}

}  // namespace

const Wanted& wanted_of_todo() {
  static const Wanted todo{{"id"}, {"content"}, {"description"}, {"text"}, {"subject"}, {"status"}, {"completed"}};
  return todo;
}

std::vector<event::TodoItem> todo_items(JsonView list) {
  std::vector<event::TodoItem> items;
  if (!list.is(JsonKind::kArray)) return items;
  for (const JsonView item : list) {
    const std::string_view status = item["status"].text();
    if (items.size() == kMostItems) break;
    if (is_gone(status)) continue;
    items.push_back({text_of(item), item["completed"].truth() ? event::TodoStatus::kDone : status_of(status)});
  }
  return items;
}

TodoList::Entry& TodoList::entry(std::string_view id) {
  id = id.substr(0, 256);
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  if (found != entries_.end()) return *found;
  if (entries_.size() == kMostItems) entries_.erase(entries_.begin());
  return entries_.emplace_back(Entry{std::string(id), {"Task #" + std::string(id), event::TodoStatus::kPending}});
}

void TodoList::create(std::string_view id, std::string_view text) {
  entry(id).item = {std::string(prefix_of_characters(text, kLongestText)), event::TodoStatus::kPending};
}

void TodoList::update(std::string_view id, std::string_view text, std::string_view status) {
  if (is_gone(status)) {
    std::erase_if(entries_, [&](const Entry& entry) { return entry.id == id; });
    return;
  }
  Entry& changed = entry(id);
  if (!text.empty()) changed.item.text = prefix_of_characters(text, kLongestText);
  if (!status.empty()) changed.item.status = status_of(status);
}

void TodoList::replace(JsonView tasks) {
  entries_.clear();
  for (const JsonView told : tasks) {
    if (is_gone(told["status"].text()) || entries_.size() == kMostItems) continue;
    entry(told["id"].text()).item = {text_of(told), status_of(told["status"].text())};
  }
}

std::vector<event::TodoItem> TodoList::items() const {
  std::vector<event::TodoItem> items;
  items.reserve(entries_.size());
  for (const Entry& entry : entries_) items.push_back(entry.item);
  return items;
}

}  // namespace ralph
