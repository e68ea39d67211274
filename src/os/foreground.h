// Runs an interactive program in ralph's own terminal.
#pragma once

#include "base/result.h"
#include "os/launch.h"

namespace ralph {

// Starts the program with ralph's own standard input, output and error, waits for it to exit, and ends whatever it left
// behind. Ctrl-C goes to the program, not to ralph; SIGTERM and SIGHUP are forwarded to it, and it dies if ralph is
// killed. Returns its exit code, or 128 + signal. Ignores the launch's `input` and `merge_streams`. Fails as spawn()
// does.
Result<int> run_in_foreground(const Launch& launch);

}  // namespace ralph
