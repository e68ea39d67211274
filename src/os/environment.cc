#include "os/environment.h"

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {

Environment Environment::of_this_process() {
  Environment environment;
  for (char** line = environ; line && *line; ++line) environment.set_line(*line);
  return environment;
}

void Environment::set_line(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0) return;
  set(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
}

std::optional<std::string> Environment::get(const std::string& name) const {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Environment::as_lines() const {
  std::vector<std::string> lines;
  lines.reserve(variables_.size());
  for (const auto& [name, value] : variables_) lines.push_back(name + '=' + value);
  return lines;
}

std::string user_folder(const Environment& environment, const std::string& variable, std::string_view fallback) {
  std::string folder = environment.get(variable).value_or("");
  if (folder.starts_with('/')) return folder;  // XDG requires ignoring relative paths
  const std::string home = environment.get("HOME").value_or("");
  return home.starts_with('/') ? join_path(home, fallback) : "";
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
