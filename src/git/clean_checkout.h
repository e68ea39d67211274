// A checkout of single commits in a separate place, for inspecting what was really committed. It has two folders:
// `store.git` is ralph's own repository, filled by transfer so that every object is verified; `tree` is the checkout.
// Programs that work in the tree get a repository there, recreated for each commit, that borrows the store's objects.
// ralph's own index is in the store: nothing done to the tree, or to its .git, can make a changed file look unchanged.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "git/git.h"

namespace ralph {

class CleanCheckout {
 public:
  using MakeGit = std::function<Git(GitPlace place, std::vector<std::pair<std::string, std::string>> environment)>;

  // `room`: the folder for everything. `work_tree`: the top-level folder of the repository that commits come from.
  CleanCheckout(std::string room, std::string work_tree, const MakeGit& make_git);

  // Makes the tree contain exactly the commit's files, plus the files of keep(). The tree's repository is on `branch`
  // (empty: detached), and ignores `own`.
  Status move_to(const std::string& commit, const std::string& branch, const std::vector<std::string>& own);

  // Makes move_to() keep the current files that are not in the commit, as long as none of them changes. Returns how
  // many.
  size_t keep();
  // Whether one of them has changed: then all are untrustworthy, and move_to() has removed them.
  bool kept_files_changed() const { return kept_files_changed_; }

  void forget() { kept_.clear(); }  // keep nothing from now on

  // An earlier process already moved the tree to this commit; any later changes there stay.
  void continue_at(const std::string& commit) { commit_ = commit; }

  // Paths from the top that differ from the commit of the last move_to(), without ignored ones.
  Result<std::vector<std::string>> changes() const;

  // The same, but only files that the commit contains.
  Result<std::vector<std::string>> changed_files() const;

  // Paths that differ between two commits.
  Result<std::vector<std::string>> changed_between(const std::string& one, const std::string& other) const;

  // A file of that commit; nullopt: the commit does not contain it.
  Result<std::optional<std::string>> content(const std::string& path) const;

  bool is_at(const std::string& commit) const;  // its tree was checked out, by this process or an earlier one
  const std::string& tree() const { return tree_; }
  std::string objects() const { return store_ + "/objects"; }  // outside the tree, but read by its repository

 private:
  Status make_store();
  Status fetch();
  Status clear(const std::vector<std::string>& tracked);
  Status make_repository(const std::string& branch, const std::vector<std::string>& own);
  Result<std::string> ask(const std::vector<std::string>& words) const;

  const std::string room_, work_tree_, store_, tree_;
  Git git_, fetching_;
  std::string commit_;
  std::map<std::string, std::string> kept_;  // by path from the top
  bool kept_files_changed_ = false;
};

// Removes a folder, even if its subfolders are write-protected.
Status remove_tree(const std::string& path);

// Why commits of this repository can't be checked out elsewhere: it has submodules, files that git-lfs or a filter of
// its own configuration stores elsewhere, or is a partial clone. Empty: they can.
Result<std::string> obstacle_to_clean_checkout(const Git& git, const std::string& work_tree);

}  // namespace ralph
