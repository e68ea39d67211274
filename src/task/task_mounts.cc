#include "task/task_mounts.h"

#include "journal/writer.h"
#include "os/files.h"

namespace ralph {

Result<std::vector<Mount>> mounts_of_task(const TaskPlace& place, const std::vector<std::string>& depends,
                                          const std::string& socket, const std::string& project) {
  if (is_within(project, place.runs()))
    return fail(ErrorKind::kInput,
                "an agent in a sandbox can't work in {}, where the supervisor keeps its records; start the task "
                "in another folder",
                project);
  std::vector<Mount> mounts;
  const auto add = [&](MountKind kind, const std::string& path, std::string_view why) {
    mounts.push_back({kind, path, path, std::string(why)});
  };
  // The whole root if it is inside the project. If the project is the root itself, the tasks of this project.
  for (const std::string& all : {place.root, place.project_folder()}) {
    if (all == project || !is_within(all, project)) continue;
    add(MountKind::kReadOnly, all, "other tasks");
    break;
  }
  for (const std::string& name : depends)
    add(MountKind::kReadOnly, TaskPlace{place.root, place.project, name}.folder(), "a task that this one depends on");
  if (is_real_file(place.project_bus())) add(MountKind::kWritable, place.project_bus(), "the bus of the project");
  add(MountKind::kWritable, place.folder(), "the task");
  // Files that the supervisor writes and trusts. run-info.yaml is replaced when an attempt has started, and a mount of
  // one file would not follow that, so the folder of all attempts is read-only as a whole.
  for (const std::string& path :
       {place.runs(), place.lock(), place.file(kJournalFile), place.file("task.yaml"), place.file(kTaskEgressLog)})
    add(MountKind::kReadOnly, path, "the supervisor's own");
  if (!is_within(socket, place.folder())) add(MountKind::kWritable, socket, "the way to the supervisor");
  return mounts;
}

std::vector<std::string> variables_of_task() {
  return {"TASK_FOLDER", "RUN_FOLDER", "MESSAGE_BUS", "JRUN_*"};
}

}  // namespace ralph
