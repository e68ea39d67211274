// Repositories that ralph creates itself, and command lines of git for places where it can't make its own calls:
// another machine, a folder that was just attacked.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

using GitCommandLines = std::vector<std::vector<std::string>>;  // with "git" itself

// Sets the author of all commits on a machine.
GitCommandLines set_author(const std::string& name, const std::string& email);

// A repository with an empty commit, and a work tree of it in `folder` for a branch that both create.
GitCommandLines new_repository_with_work_tree(const std::string& branch, const std::string& folder);

// What a shell's prompt runs, and a commit of a person: all that makes git run the programs of a repository.
GitCommandLines everyday_commands();

// Puts everything in `folder` into a repository of its own. Its author is its own too: a new machine has none, and the
// user's may require signatures.
Status make_repository(const std::string& folder, const std::string& author, const std::string& email,
                       const std::string& message);

// The variables that lead git to another repository than that of its working directory. They are set in a git hook.
inline constexpr std::array<const char*, 9> kRepositoryVariables = {"GIT_DIR",
                                                                    "GIT_WORK_TREE",
                                                                    "GIT_INDEX_FILE",
                                                                    "GIT_OBJECT_DIRECTORY",
                                                                    "GIT_COMMON_DIR",
                                                                    "GIT_PREFIX",
                                                                    "GIT_NAMESPACE",
                                                                    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                                                                    "GIT_CEILING_DIRECTORIES"};

}  // namespace ralph
