// A checkout of single commits in a place of its own, for looking at what was really committed. Two folders:
// `store.git` is ralph's own repository, filled by transfer, so that every object is verified; `tree` is the checkout.
// What works in the tree gets a repository there that is made anew for each commit and borrows the store's objects.
// ralph's own index is in the store: nothing that is done to the tree, or to its .git, can make a file pass for
// unchanged.
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

  // `room`: the folder for all of it. `work_tree`: the top-level folder of the repository that commits come from.
  CleanCheckout(std::string room, std::string work_tree, const MakeGit& make_git);

  // Makes the tree what the commit has and nothing else, except for `kept` files; see keep(). The tree's repository is
  // on `branch` (empty: detached), and ignores `own`.
  Status move_to(const std::string& commit, const std::string& branch, const std::vector<std::string>& own);

  // What is in the tree besides the commit is kept by move_to(), as long as none of it changes. Returns how many files.
  size_t keep();
  // Whether some of it has changed: what was kept is worth nothing then, and move_to() has removed all of it.
  bool was_spoilt() const { return spoilt_; }

  void forget() { kept_.clear(); }  // nothing is kept from now on

  // The tree is at this commit already, by an earlier process; whatever was changed there stays.
  void go_on_at(const std::string& commit) { commit_ = commit; }

  // Paths from the top that differ from the commit of the last move_to(), without ignored ones.
  Result<std::vector<std::string>> changes() const;

  // The same, but only files that the commit has.
  Result<std::vector<std::string>> changed_files() const;

  // Paths that differ between two commits.
  Result<std::vector<std::string>> changed_between(const std::string& one, const std::string& other) const;

  // A file of that commit; nullopt: it has none.
  Result<std::optional<std::string>> content(const std::string& path) const;

  bool is_at(const std::string& commit) const;  // a tree of it has been made, by this process or by an earlier one
  const std::string& tree() const { return tree_; }
  std::string objects() const { return store_ + "/objects"; }  // what the tree's repository reads outside of it

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
  bool spoilt_ = false;
};

// Removes a folder, whatever rights its folders have.
Status remove_tree(const std::string& path);

// Why commits of this repository can't be checked out elsewhere: it has submodules, files that a filter of its own or
// git-lfs stores elsewhere, or is a partial clone. Empty: they can.
Result<std::string> obstacle_to_clean_checkout(const Git& git, const std::string& work_tree);

}  // namespace ralph
