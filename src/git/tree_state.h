// The state of a work tree, for comparison: its commit, and every file that differs from it and is not ignored.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "git/repository.h"

namespace ralph {

struct TreeState {
  std::string head;
  std::map<std::string, std::string> uncommitted;  // by path from the top: git's two letters, and its content's hash
};

// Without ralph's own files. `top` is the work tree's top-level folder.
Result<TreeState> tree_state(const Repository& repository, const std::string& top);

bool is_untracked(std::string_view state);

// Whether the content is the same, staged or not.
bool is_same_content(std::string_view state, std::string_view other);

// For people: the first few, and how many more there are.
std::string named_paths(const std::vector<std::string>& paths);

}  // namespace ralph
