// Whether a repository is still the one that existed when a run began: not deleted, not recreated, and with a commit
// checked out.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

struct RepositoryMark {
  std::string top;                  // the work tree's folder
  std::string entry;                // its `.git`
  std::string git_dir, common_dir;  // see RepositoryFolders
  std::string folder{};             // identifies the folder common_dir
  std::string commit{};             // the commit checked out; empty: none, or unknown
};

RepositoryMark mark_repository(RepositoryMark places);

// "deleted" or "made anew"; empty: it is the same.
std::string what_became_of(const RepositoryMark& mark);

// For a repository that is still the same, and had a commit: "damaged" (git finds neither HEAD's commit nor the
// original one), kHeadless (the commits exist, but HEAD points to none), or empty.
inline constexpr std::string_view kHeadless = "left without a commit";
std::string what_became_of_head(const RepositoryMark& mark);

// Everything that the answer about HEAD depends on, read without git: the answer can only change if this does. Empty:
// only git can tell, because the branch or its commit is packed or elsewhere.
std::string head_stamp(const RepositoryMark& mark);

}  // namespace ralph
