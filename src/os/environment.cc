#include "os/environment.h"

#include <algorithm>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {

Environment Environment::of_this_process() {
  Environment environment;
  for (char** line = environ; line && *line; ++line) environment.set_line(*line);
  return environment;
}

Environment::Variables& Environment::own() {
  if (variables_.use_count() > 1) variables_ = std::make_shared<Variables>(*variables_);
  return *variables_;
}

void Environment::set_line(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0) return;
  set(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = variables_->find(name);
  if (found == variables_->end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Environment::as_lines() const {
  std::vector<std::string> lines;
  lines.reserve(variables_->size());
  for (const auto& [name, value] : *variables_) {
    std::string& line = lines.emplace_back();
    line.reserve(name.size() + 1 + value.size());
    line.append(name).append(1, '=').append(value);
  }
  return lines;
}

size_t Environment::bytes() const {
  size_t bytes = 0;
  for (const auto& [name, value] : *variables_) bytes += name.size() + value.size() + 2 + sizeof(char*);
  return bytes;
}

std::string user_folder(const Environment& environment, const std::string& variable, std::string_view fallback) {
  std::string folder = environment.get(variable).value_or("");
  if (folder.starts_with('/')) return folder;  // XDG requires ignoring relative paths
  const std::string home = environment.get("HOME").value_or("");
  return home.starts_with('/') ? join_path(home, fallback) : "";
}

std::string path_with_project_last(std::string_view path, const std::string& project) {
  const std::string real = real_path(project);
  const auto is_in_project = [&](const std::string& entry) {
    if (!entry.starts_with('/')) return true;  // relative to a program's working directory
    for (const std::string& place : {entry, real_path(entry)})
      for (const std::string& folder : {project, real})
        if (is_within(place, folder)) return true;
    return false;
  };
  std::vector<std::string> entries = split(path, ':');
  std::ranges::stable_partition(entries, [&](const std::string& entry) { return !is_in_project(entry); });
  return join(entries, ":");
}

Environment with_project_last(Environment environment, const std::string& project) {
  if (const auto path = environment.get("PATH")) environment.set("PATH", path_with_project_last(*path, project));
  return environment;
}

Result<std::string> resolve_program(const std::string& program, const Environment& environment,
                                    const std::string& folder) {
  const auto not_executable = [](const std::string& path) {
    return fail(ErrorKind::kNotFound, "{} is not executable{}", path,
                is_directory(path) ? ": it is a folder" : fmt::format("; try: chmod +x {}", path));
  };
  if (contains(program, '/')) {
    const std::string path = join_path(folder, program);
    if (!file_exists(path)) return fail(ErrorKind::kNotFound, "{} does not exist", path);
    if (!is_executable_file(path)) return not_executable(path);
    return path;
  }
  std::string found_but_not_executable;
  for (const std::string& part : split(environment.get("PATH").value_or("/usr/local/bin:/usr/bin:/bin"), ':')) {
    const std::string path = join_path(join_path(folder, part.empty() ? "." : part), program);
    if (is_executable_file(path)) return path;
    if (file_exists(path) && !is_directory(path)) found_but_not_executable = path;
  }
  if (!found_but_not_executable.empty()) return not_executable(found_but_not_executable);
  return fail(ErrorKind::kNotFound, "{} was not found on PATH", program);
}

}  // namespace ralph
