// The only loop of the program: iterations of agent, checks and SCM tasks until a decision stops them.
#pragma once

#include "engine/way.h"

namespace ralph {

// Runs until a decision stops the loop; the end is always recorded. An error is something no rule covers (a full disk,
// a prompt file that vanished); no process is running when it is returned.
Result<Decision> drive(Run& run, Way& way);

}  // namespace ralph
