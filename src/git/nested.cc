#include "git/nested.h"

#include <algorithm>

#include "base/text.h"
#include "git/config_file.h"
#include "git/git.h"
#include "git/program_settings.h"
#include "os/files.h"

namespace ralph {
namespace {

// Tracked repositories, and those that `git add` would track.
Result<std::vector<std::string>> nested_repositories(const std::string& top) {
  const Git git = plain_git(top);
  std::vector<std::string> paths;
  TRY_VALUE(const GitEnd tracked, git({"ls-files", "-z", "--stage"}));
  for (const std::string& entry : split(tracked.output, '\0')) {
    const size_t path = entry.find('\t');
    if (entry.starts_with("160000 ") && path != std::string::npos) paths.push_back(entry.substr(path + 1));
  }
  TRY_VALUE(const GitEnd others, git({"ls-files", "-z", "--others", "--exclude-standard"}));
  for (const std::string& entry : split(others.output, '\0')) {
    if (entry.ends_with('/')) paths.push_back(entry.substr(0, entry.size() - 1));
  }
  return paths;
}

void add_settings(const std::string& path, const std::string& shown, std::vector<std::string>& found) {
  if (!is_regular_file(path)) return;
  const auto settings = program_settings(read_file(path).value_or(""));
  std::vector<std::string> names;
  for (const GitSetting& setting : settings.value_or(std::vector<GitSetting>{})) names.push_back(setting.written);
  if (!names.empty()) found.push_back(fmt::format("{} ({})", shown, join(names, ", ")));
}

}  // namespace

Result<std::vector<std::string>> programs_of_nested(const std::string& top, const std::string& common_dir) {
  std::vector<std::string> found;
  TRY_VALUE(const std::vector<std::string> nested, nested_repositories(top));
  for (const std::string& path : nested) {
    const std::string folder = join_path(top, path);
    if (!path_exists(join_path(folder, ".git"))) continue;
    const RepositoryFolders own = repository_folders(folder);
    if (own.common_dir.empty() || real_path(own.common_dir).starts_with(real_path(common_dir) + "/")) continue;
    const auto shown = [&](const std::string& file) {
      return file.starts_with(top + "/") ? file.substr(top.size() + 1) : file;
    };
    for (const std::string& config : {join_path(own.common_dir, "config"), join_path(own.git_dir, "config.worktree")})
      add_settings(config, shown(config), found);
    const std::string hooks = join_path(own.common_dir, "hooks");
    for (const std::string& name : names_in(hooks)) {
      if (name != "." && name != ".." && !name.ends_with(".sample")) found.push_back(shown(join_path(hooks, name)));
    }
  }
  return found;
}

}  // namespace ralph
