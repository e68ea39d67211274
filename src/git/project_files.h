// Which files of a folder are its own: those that git tracks or would track. Never runs a program that the repository
// names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/environment.h"

namespace ralph {

// Relative to `folder`, sorted, without ignored files. nullopt: no repository, or git can't tell.
std::optional<std::vector<std::string>> files_known_to_git(const std::string& folder, const Environment& environment);

// The same without untracked files.
std::optional<std::vector<std::string>> files_tracked_by_git(const std::string& folder, const Environment& environment);

// Tracked files that an ignore file names all the same: git's, .ignore or .eslintignore.
std::vector<std::string> tracked_files_named_as_ignored(const std::string& folder, const Environment& environment);

// Files that differ from HEAD or are new, without deleted ones. All files before the first commit.
std::optional<std::vector<std::string>> files_changed_since_head(const std::string& folder,
                                                                 const Environment& environment);

// The content of a file in HEAD; empty: not in HEAD.
std::string committed_text(const std::string& folder, const std::string& path, const Environment& environment);

}  // namespace ralph
