// Todo lists. Some agents write the whole list, others update single entries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/events.h"
#include "json/view.h"
#include "json/wanted.h"

namespace ralph {

const Wanted& wanted_of_todo();

// A whole list: [{"content"|"subject"|"text"|"description": …, "status": … | "completed": true}]. Cancelled items are
// left out.
std::vector<event::TodoItem> todo_items(JsonView list);

// A list that is updated entry by entry (TaskCreate, TaskUpdate). Entries are identified by the agent's ids.
class TodoList {
 public:
  void create(std::string_view id, std::string_view text);
  // An empty argument changes nothing. An unknown entry, left from an earlier run, gets its id as its text.
  void update(std::string_view id, std::string_view text, std::string_view status);
  // Replaces the whole list.
  void replace(JsonView tasks);

  std::vector<event::TodoItem> items() const;

 private:
  struct Entry {
    std::string id;
    event::TodoItem item;
  };
  Entry& entry(std::string_view id);

  std::vector<Entry> entries_;
};

}  // namespace ralph
