#include "task/place.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"
#include "settings/ralph_folder.h"
#include "task/bus.h"

namespace ralph {
namespace {

constexpr size_t kMostNameBytes = 200;

Status check_name(std::string_view what, std::string_view name) {
  const bool good = !name.empty() && name.size() <= kMostNameBytes && name[0] != '-' && name[0] != '.' &&
                    !contains(name, '/') && !contains(name, "..") &&
                    std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 32; });
  if (good) return {};
  return fail(ErrorKind::kUsage,
              "--{}: \"{}\" is not a valid {} name: it must be the name of one folder, at most {} bytes long, without "
              "\"/\", \"..\" and control characters, not empty, and not begin with \"-\" or \".\"",
              what, fit_to_width(name, 80), what, kMostNameBytes);
}

Status make_real_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST)
    return fail(ErrorKind::kIo, "cannot create the folder {}: {}", path, errno_text(errno));
  if (!is_real_folder(path))
    return fail(ErrorKind::kInput, "{} is a symbolic link or a file, not a folder; remove it", path);
  return {};
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(folder))
    if (name[0] != '.' && is_real_folder(join_path(folder, name))) found.push_back(name);
  return found;
}

std::string registry_of(const Environment& environment) {
  const std::string state = state_folder(environment);
  return state.empty() ? "" : join_path(state, "task-roots");
}

}  // namespace

std::string TaskPlace::project_folder() const {
  return join_path(root, project);
}
std::string TaskPlace::folder() const {
  return join_path(project_folder(), task);
}
std::string TaskPlace::file(std::string_view name) const {
  return join_path(folder(), name);
}
std::string TaskPlace::bus() const {
  return file(kTaskBus);
}
std::string TaskPlace::project_bus() const {
  return join_path(project_folder(), kProjectBus);
}

Result<TaskPlace> task_place(const std::string& root, std::string_view project, std::string_view task) {
  TRY(check_name("project", project));
  TRY(check_name("task", task));
  TRY_VALUE(const std::string here, current_directory());
  return TaskPlace{absolute_path(root, here), std::string(project), std::string(task)};
}

Result<TaskPlace> existing_task(const std::string& root, std::string_view project, std::string_view task) {
  TRY_VALUE(TaskPlace place, task_place(root, project, task));
  if (is_real_folder(place.folder())) return place;
  std::vector<std::string> names;
  for (const TaskPlace& other : tasks_in(place.root)) names.push_back(other.project + "/" + other.task);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(fmt::format("{}/{}", project, task), views);
  const std::string there = names.empty()   ? "there are no tasks"
                            : !near.empty() ? fmt::format("did you mean {}?", near)
                                            : fmt::format("there are {}", join_for_people(names));
  return fail(ErrorKind::kUsage, "there is no task {}/{} in {}: {}", project, task, place.root, there);
}

Status make_task_folder(const TaskPlace& place) {
  TRY(make_directories(place.root));
  for (const std::string& folder : {place.project_folder(), place.folder(), place.runs()})
    TRY(make_real_folder(folder));
  return {};
}

std::vector<TaskPlace> tasks_in(const std::string& root, std::string_view project) {
  std::vector<TaskPlace> tasks;
  const std::vector<std::string> projects =
      project.empty() ? folders_in(root) : std::vector<std::string>{std::string(project)};
  for (const std::string& one : projects) {
    for (const std::string& task : folders_in(join_path(root, one))) {
      TaskPlace place{root, one, task};
      if (is_real_folder(place.runs())) tasks.push_back(std::move(place));
    }
  }
  return tasks;
}

Result<bool> is_done(const TaskPlace& place) {
  const std::string path = place.done();
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file && errno == ENOENT) return false;
  if (!file && errno != ELOOP) return fail(ErrorKind::kInput, "cannot read {}: {}", path, errno_text(errno));
  struct stat info{};
  if (file && ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode)) return true;
  return fail(ErrorKind::kInput, "{} is {}, not a plain file; remove it", path,
              !file                   ? "a symbolic link"
              : S_ISDIR(info.st_mode) ? "a directory"
                                      : "a special file");
}

Status remember_root(const Environment& environment, const std::string& root) {
  const std::string registry = registry_of(environment);
  if (registry.empty()) return {};
  const std::string entry = join_path(registry, state_name(base_name(root), root));
  if (is_real_file(entry)) return {};
  TRY(prepare_state_folder(registry, "the roots of tasks are noted there"));
  return replace_file(entry, root + "\n", 0600);
}

std::vector<std::string> known_roots(const Environment& environment) {
  std::vector<std::string> roots;
  const std::string registry = registry_of(environment);
  if (registry.empty()) return roots;
  for (const std::string& name : names_in(registry)) {
    const std::string entry = join_path(registry, name);
    if (!is_real_file(entry)) continue;
    const std::string root(trim(read_file(entry).value_or("")));
    if (is_directory(root)) roots.push_back(root);
  }
  return roots;
}

}  // namespace ralph
