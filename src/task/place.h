// The folder of a supervised task: <root>/<project>/<task>/. Specified in docs/formats/task.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

struct TaskPlace {
  std::string root, project, task;  // the root is absolute

  std::string project_folder() const;
  std::string folder() const;
  std::string file(std::string_view name) const;  // in the task's folder
  std::string done() const { return file("DONE"); }
  std::string stop_request() const { return file("STOP-REQUESTED"); }
  std::string wait_request() const { return file("WAIT_WITHOUT_RESTART"); }
  std::string instructions() const { return file("TASK.md"); }
  std::string bus() const;
  std::string project_bus() const;
  std::string runs() const { return file("runs"); }
  std::string lock() const { return file("supervisor.lock"); }
};

// Checks the names: a project and a task are one folder each, so neither may contain '/' or "..".
Result<TaskPlace> task_place(const std::string& root, std::string_view project, std::string_view task);

// The same for a task that must exist; the error names the existing ones.
Result<TaskPlace> existing_task(const std::string& root, std::string_view project, std::string_view task);

// Creates the folders of the task. Refuses symbolic links: an agent could have put them there.
Status make_task_folder(const TaskPlace& place);

// The tasks below a root, sorted; only those of `project` if it is given.
std::vector<TaskPlace> tasks_in(const std::string& root, std::string_view project = {});

// Whether the task's file DONE exists. Fails with advice if it is anything but a readable plain file.
Result<bool> is_done(const TaskPlace& place);

// The registry of roots in the state folder, by which `ralph runs list` finds the runs of all tasks.
Status remember_root(const Environment& environment, const std::string& root);
std::vector<std::string> known_roots(const Environment& environment);

}  // namespace ralph
