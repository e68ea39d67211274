// The state of a work tree, for comparison: its commit, and every file that differs from it and is not ignored.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "git/own_index.h"
#include "git/repository.h"

namespace ralph {

struct TreeState {
  std::string head;
  std::map<std::string, std::string> uncommitted;  // by path from the top: git's two letters and a hash of the content
};

// Without ralph's own files. `top` is the work tree's top-level folder, `index` ralph's own copy of its index if there
// is one.
Result<TreeState> tree_state(const Repository& repository, const std::string& top, const OwnIndex* index = nullptr);

bool is_untracked(std::string_view state);
bool is_hidden(std::string_view state);               // git does not show the change
std::string_view how_to_see(std::string_view state);  // for a hidden change

// Whether the content is the same, staged or not.
bool is_same_content(std::string_view state, std::string_view other);

// For people: the first few, and how many more there are.
std::string named_paths(const std::vector<std::string>& paths);

}  // namespace ralph
