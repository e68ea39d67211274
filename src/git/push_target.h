// Where `git push` goes, so that a run pushes only to the target its user had when it began: an agent can redirect it
// by many settings of the repository and of the user. Settings are compared by hashes of their values, which may be
// secret.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "git/git.h"

namespace ralph {

// Facts by name: "remote.origin.url" and the like, with the hash of their values; "to BRANCH": the remote that a push
// of this branch goes to; "to ": the remote for any other branch. Empty: there is no repository.
using PushTarget = std::map<std::string, std::string>;

Result<PushTarget> push_target(const Git& git);

// Why `git push`, with these words after it, now has a different target; empty: it does not. `branch`: the current
// branch; empty: none.
std::string why_redirected(const PushTarget& then, const PushTarget& now, const std::string& branch,
                           const std::vector<std::string>& words);

}  // namespace ralph
