// The report on a loop of a host's session, for people. It never contains the promise in its exact form: a model that
// reads and repeats it must not complete the loop.
#pragma once

#include <string>

#include "session/loop_state.h"
#include "ui/style.h"

namespace ralph::cli {

// Several lines: state, limits, and every known decision.
std::string loop_report(const LoopState& state, const Style& style);

// Writes the receipt of a loop that has ended. Errors are ignored: the hook's answer stands, and the journal has the
// same facts.
void write_loop_receipt(const std::string& project, const LoopState& state);

}  // namespace ralph::cli
