// The skeleton of every loop: iterations until decide() says stop, and an end that is always recorded.
#pragma once

#include <functional>

#include "engine/step.h"

namespace ralph {

// Asks before each iteration whether it may begin. `iterate` runs one and returns what was decided at its end. An error
// is something that no rule foresees (a full disk, a prompt file that vanished): nothing runs any more when it is
// returned.
Result<Decision> run_iterations(RunContext& context, const std::function<Result<Decision>()>& iterate);

// Writes down the end of a run that is over already, or will not begin: what run_iterations() does by itself.
Result<Decision> conclude(RunContext& context, Result<Decision> decision);

}  // namespace ralph
