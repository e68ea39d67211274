// git's configuration files, read without git: what a repository's own configuration says must be known before git is
// started there, because it may name programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct ConfigEntry {
  std::string section;     // "filter"; in small letters
  std::string subsection;  // "lfs"; may be empty
  std::string name;        // "clean"; in small letters
  std::string value;
  bool has_subsection = false;  // an empty one is one

  std::string key() const;  // "filter.lfs.clean"
};

// The entries of a configuration file. What git would refuse is passed over.
std::vector<ConfigEntry> config_entries(std::string_view text);

// The entries of the configuration that belongs to the repository around `folder`: its own file, that of the work tree,
// and all files that they include, whatever the condition. Empty: there is no repository.
std::vector<ConfigEntry> repository_config(const std::string& folder);

// The folder with the repository's own files, which all its work trees share; `from_work_tree`: the one with those of
// this work tree. Empty: there is no repository around `folder`.
struct RepositoryFolders {
  std::string common, from_work_tree;
};
RepositoryFolders repository_folders(const std::string& folder);

}  // namespace ralph
