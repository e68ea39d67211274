// Reads git's configuration files without git: a repository's own configuration must be known before git is started
// there, because it may name programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct ConfigEntry {
  std::string section;     // "filter"; in lower case
  std::string subsection;  // "lfs"; may be empty
  std::string name;        // "clean"; in lower case
  std::string value;
  bool has_subsection = false;  // true even if the subsection is empty

  std::string key() const;  // "filter.lfs.clean"
};

inline constexpr int kDeepestInclude = 10;  // git's own limit

// The entries of a configuration file. Anything that git would reject is skipped.
std::vector<ConfigEntry> config_entries(std::string_view text);

// The configuration entries of the repository around `folder`: from its own file, that of the work tree, and all files
// that they include, whatever the condition. Empty: there is no repository.
std::vector<ConfigEntry> repository_config(const std::string& folder);

// `common_dir`: the folder with the files that all work trees of the repository share. `git_dir`: the folder with the
// files of this work tree alone (HEAD, index). Both are empty if there is no repository around `folder`.
struct RepositoryFolders {
  std::string common_dir, git_dir;
};
RepositoryFolders repository_folders(const std::string& folder);

}  // namespace ralph
