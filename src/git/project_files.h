// Which files of a folder are its own: what git tracks and what it would track. No program that the repository names is
// run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/environment.h"

namespace ralph {

// Relative to `folder`, sorted, without what git ignores. nullopt: no repository, or git can't tell.
std::optional<std::vector<std::string>> files_known_to_git(const std::string& folder, const Environment& environment);

// The same without untracked files.
std::optional<std::vector<std::string>> files_tracked_by_git(const std::string& folder, const Environment& environment);

// Tracked ones that files which ignore others name all the same: those of git, .ignore and .eslintignore.
std::vector<std::string> tracked_files_named_as_ignored(const std::string& folder, const Environment& environment);

// Those that differ from HEAD or are new, without deleted ones. All of them before the first commit.
std::optional<std::vector<std::string>> files_changed_since_head(const std::string& folder,
                                                                 const Environment& environment);

// What HEAD has of a file; empty: nothing.
std::string committed_text(const std::string& folder, const std::string& path, const Environment& environment);

}  // namespace ralph
