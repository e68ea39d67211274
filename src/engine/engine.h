// The only loop of the program: iterations of agent, checks and SCM tasks until a decision stops them.
#pragma once

#include "engine/way.h"

namespace ralph {

// Runs until a decision stops the loop; the end is always recorded. Errors are conditions that no rule covers, such as
// a full disk or a missing prompt file. No process is running when an error is returned.
Result<Decision> drive(Run& run, Way& way);

}  // namespace ralph
