// The only loop of the program: iterations of agent, checks and SCM tasks until a decision stops them.
#pragma once

#include "engine/way.h"

namespace ralph {

// Runs to the end, which is always recorded. An error is something that no rule foresees (a full disk, a prompt file
// that vanished): nothing runs any more when it is returned.
Result<Decision> drive(Run& run, Way& way);

}  // namespace ralph
