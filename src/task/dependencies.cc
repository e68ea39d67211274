#include "task/dependencies.h"

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "task/yaml_lines.h"

namespace ralph {
namespace {

std::string path_of(const TaskPlace& place) {
  return place.file("task.yaml");
}

// The path from `at` back to `goal`; empty if there is none.
std::vector<std::string> way_to(const TaskPlace& at, const std::string& goal, std::vector<std::string>& seen) {
  for (const std::string& name : dependencies_of(at)) {
    if (name == goal) return {at.task, goal};
    if (is_one_of(name, seen)) continue;
    seen.push_back(name);
    std::vector<std::string> rest = way_to({at.root, at.project, name}, goal, seen);
    if (rest.empty()) continue;
    rest.insert(rest.begin(), at.task);
    return rest;
  }
  return {};
}

Status write_dependencies(const TaskPlace& place, const std::vector<std::string>& names) {
  YamlLines lines;
  lines.number("version", 1);
  lines.list("depends_on", names);
  return write_file_atomically(path_of(place), lines.str());
}

}  // namespace

std::vector<std::string> dependencies_of(const TaskPlace& place) {
  std::vector<std::string> names;
  if (!is_real_file(path_of(place))) return names;
  const auto text = read_file(path_of(place));
  const auto lines = text ? parse_yaml_lines(*text, path_of(place)) : Result<json::object>(json::object());
  if (!lines) return names;
  for (std::string& name : strings_of(lines->if_contains("depends_on")))
    if (task_place(place.root, place.project, name)) names.push_back(std::move(name));
  return names;
}

Status set_dependencies(const TaskPlace& place, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (name == place.task) return fail(ErrorKind::kUsage, "--depends-on {}: a task can't wait for itself", name);
    TRY(existing_task(place.root, place.project, name));
  }
  const std::vector<std::string> before = dependencies_of(place);
  // Write first: if two processes create a cycle concurrently, at least one of them sees it.
  TRY(write_dependencies(place, names));
  std::vector<std::string> seen;
  const std::vector<std::string> cycle = way_to(place, place.task, seen);
  if (cycle.empty()) return {};
  if (before.empty()) {
    ::unlink(path_of(place).c_str());
  } else {
    TRY(write_dependencies(place, before));
  }
  return fail(ErrorKind::kUsage, "--depends-on makes a cycle: {}; none of these tasks could ever begin",
              join(cycle, " waits for "));
}

}  // namespace ralph
