// The remotes of a repository, read from its configuration without running git.
#pragma once

#include <string>
#include <vector>

namespace ralph {

// The fetch and push addresses; none if the folder is not a repository. A work tree has those of its repository.
std::vector<std::string> remote_addresses(const std::string& project);

}  // namespace ralph
