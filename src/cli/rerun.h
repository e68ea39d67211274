// Repeats the checks of an ended run in a clean checkout of its final commit, and compares the results.
#pragma once

#include <string>
#include <vector>

#include "history/verify.h"

namespace ralph::cli {

// The commands that rerun_checks() would run.
std::vector<std::string> commands_to_rerun(const Receipt& receipt);

// Adds one finding for each check of the last iteration, or one that says why they can't be run. Runs in a guarded
// process, so everything that the checks start ends with them. The checkout is removed.
void rerun_checks(Verification& verification, const std::string& project, int guardian);

}  // namespace ralph::cli
