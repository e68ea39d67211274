// git for commands that look at or change a plan outside of a run.
#pragma once

#include <string>

#include "git/repository.h"

namespace ralph {

// Runs git in `folder`, with the user's environment; paths mean themselves, never patterns.
Git plain_git(const std::string& folder);

}  // namespace ralph
