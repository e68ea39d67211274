// The remotes of a repository, read from its configuration without running git.
#pragma once

#include <string>
#include <vector>

namespace ralph {

// The addresses that are fetched from and pushed to; none if the folder is no repository. A work tree has those of its
// repository.
std::vector<std::string> remote_addresses(const std::string& project);

}  // namespace ralph
