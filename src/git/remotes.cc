#include "git/remotes.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

// .git is a folder, or in a work tree a file that names one, which names the repository's in turn.
std::string repository_folder(const std::string& project) {
  const std::string git = join_path(project, ".git");
  const auto pointer = read_file(git);
  if (!pointer || !pointer->starts_with("gitdir:")) return git;
  const std::string folder = absolute_path(trim(std::string_view(*pointer).substr(7)), project);
  const auto common = read_file(join_path(folder, "commondir"));
  return common ? absolute_path(trim(*common), folder) : folder;
}

}  // namespace

std::vector<std::string> remote_addresses(const std::string& project) {
  std::vector<std::string> addresses;
  const auto config = read_file(join_path(repository_folder(project), "config"));
  if (!config) return addresses;
  bool in_remote = false;
  for (const std::string& raw : split(*config, '\n')) {
    const std::string_view line = trim(raw);
    if (line.starts_with('[')) in_remote = line.starts_with("[remote ");
    const size_t equals = line.find('=');
    if (!in_remote || equals == std::string_view::npos) continue;
    const std::string key = to_lower(trim(line.substr(0, equals)));
    std::string_view value = trim(line.substr(equals + 1));
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
    if (key == "url" || key == "pushurl") addresses.emplace_back(value);
  }
  return addresses;
}

}  // namespace ralph
