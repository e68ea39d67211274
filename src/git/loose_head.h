// The commit that HEAD leads to, read from the repository's files: starting git takes longer than most of what ralph
// does in an iteration.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ralph {

// Whether `top`/.git is the repository of `top` as git sees it: a folder of this user, not a linked work tree, and the
// environment names no other repository.
bool is_own_repository(const std::string& top);

struct LooseHead {
  std::string commit;
  std::vector<std::string> files;  // that this depends on; each existed when it was read
};

// nullopt if only git can tell: HEAD is detached, the branch or its commit is packed, or refs are stored in another
// way.
std::optional<LooseHead> read_loose_head(const std::string& git_dir, const std::string& common_dir);

// The same for the repository `top`/.git. nullopt as well if it is not `top`'s own.
std::optional<LooseHead> read_loose_head(const std::string& top);
std::optional<std::string> read_branch(const std::string& top);

// The commit that is checked out in the work tree at `top`; asks git if the files are not enough. Empty if there is no
// repository, no commit, or git refuses to say.
std::string checked_out_commit(const std::string& top);

}  // namespace ralph
