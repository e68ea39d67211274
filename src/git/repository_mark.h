// Whether a repository is still the one that existed when a run began: not deleted, not recreated, and with a commit
// checked out.
#pragma once

#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace ralph {

struct RepositoryMark {
  std::string top;                  // the work tree's folder
  std::string entry;                // its `.git`
  std::string git_dir, common_dir;  // see RepositoryFolders
  std::string folder{};             // identifies the folder common_dir
  std::string commit{};             // the commit checked out; empty: none, or unknown
};

RepositoryMark mark_repository(RepositoryMark places);

// "deleted" or "recreated"; empty: it is the same.
std::string repository_fault(const RepositoryMark& mark);

// For a repository that is still the same, and had a commit: "damaged" (git finds neither HEAD's commit nor the
// original one), kHeadless (the commits exist, but HEAD points to none), or empty.
inline constexpr std::string_view kHeadless = "left without a commit";
std::string head_fault(const RepositoryMark& mark);

// The files that the answer about HEAD depends on: as long as they are the same, so is the answer.
class HeadState {
 public:
  // False for an empty state: only git can tell, because the branch or its commit is packed or elsewhere.
  bool still_holds() const;

 private:
  friend HeadState head_state(const RepositoryMark& mark);
  std::vector<std::pair<std::string, struct stat>> files_;
};
HeadState head_state(const RepositoryMark& mark);

}  // namespace ralph
