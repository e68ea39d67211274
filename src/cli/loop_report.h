// What people read about a loop of a host's session. It never contains the promise as it has to be said: a model that
// reads it and repeats it must not complete the loop.
#pragma once

#include <string>

#include "session/loop_state.h"
#include "ui/style.h"

namespace ralph::cli {

// Some lines: its state, its limits, every decision that is known.
std::string loop_report(const LoopState& state, const Style& style);

// Writes the receipt of a loop that has ended. Best effort: a hook has its answer, and the journal says the same.
void write_loop_receipt(const std::string& project, const LoopState& state);

}  // namespace ralph::cli
