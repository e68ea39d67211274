// git's index, read without git: starting git takes longer than reading it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct IndexEntry {
  std::string path;     // from the top-level folder
  bool hidden = false;  // flagged "assume unchanged" or "skip worktree"
};

// All entries, in order; a file with conflicts has several. nullopt if only git can tell: the index has an unknown
// version, is split or sparse, names objects by SHA-256, or is damaged.
std::optional<std::vector<IndexEntry>> read_index(std::string_view bytes);

// Whether the index in `top`/.git certainly hides no file from git. Also false if only git can tell.
bool hides_nothing(const std::string& top);

}  // namespace ralph
