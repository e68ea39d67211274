#include "cli/task_options.h"

#include "os/files.h"

namespace ralph::cli {
namespace {

// The task that this command runs in, from TASK_FOLDER.
std::optional<TaskPlace> enclosing_task() {
  const std::string folder = Environment::of_this_process().get("TASK_FOLDER").value_or("");
  if (!folder.starts_with('/')) return std::nullopt;
  const std::string project = parent_path(folder);
  return TaskPlace{parent_path(project), base_name(project), base_name(folder)};
}

}  // namespace

Result<TaskPlace> task_from(const Arguments& arguments) {
  const auto inside = enclosing_task();
  const auto given = [&](std::string_view option, std::string TaskPlace::* member) {
    const auto value = arguments.value(option);
    return value ? std::string(*value) : inside ? (*inside).*member : "";
  };
  const std::string root = given("root", &TaskPlace::root), project = given("project", &TaskPlace::project);
  const std::string task = given("task", &TaskPlace::task);
  if (root.empty() || project.empty() || task.empty())
    return fail(ErrorKind::kUsage, "which task? Give --root DIR, --project P and --task T");
  return existing_task(root, project, task);
}

Result<TaskRoot> task_root_from(const Arguments& arguments) {
  const auto inside = enclosing_task();
  const auto root = arguments.value("root");
  if (!root && !inside) return fail(ErrorKind::kUsage, "which tasks? Give --root DIR");
  TRY_VALUE(const std::string here, current_directory());
  TaskRoot found{absolute_path(root ? std::string(*root) : inside->root, here),
                 std::string(arguments.value("project").value_or(""))};
  if (!is_directory(found.root)) return fail(ErrorKind::kUsage, "--root: there is no folder {}", found.root);
  if (!found.project.empty()) TRY(task_place(found.root, found.project, "x"));
  return found;
}

}  // namespace ralph::cli
