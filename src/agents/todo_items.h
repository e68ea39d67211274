// Todo lists, as the agents write them: whole, or task by task.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agents/events.h"
#include "json/view.h"
#include "json/wanted.h"

namespace ralph {

const Wanted& wanted_of_todo();

// A list in one piece: [{"content"|"subject"|"text"|"description": …, "status": … | "completed": true}]. What was
// cancelled is on no list.
std::vector<event::TodoItem> todo_items(JsonView list);

// A list that is changed task by task (TaskCreate, TaskUpdate). The agent's own ids tell tasks apart.
class TodoList {
 public:
  void create(std::string_view id, std::string_view text);
  // What is empty stays as it is. A task that is not known (of an earlier run) is named by its id.
  void update(std::string_view id, std::string_view text, std::string_view status);
  // The whole list, as the agent has told it.
  void replace(JsonView tasks);

  std::vector<event::TodoItem> items() const;

 private:
  struct Task {
    std::string id;
    event::TodoItem item;
  };
  Task& task(std::string_view id);

  std::vector<Task> tasks_;
};

}  // namespace ralph
