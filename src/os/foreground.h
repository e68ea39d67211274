// A program in the terminal that ralph itself was started in: for a person to talk to.
#pragma once

#include "base/result.h"
#include "os/launch.h"

namespace ralph {

// Starts it with ralph's own standard input, output and error, waits for its end, and ends whatever it left behind.
// Ctrl-C is for it, not for ralph; SIGTERM and SIGHUP are passed on to it, and it goes when ralph is killed. Returns
// its exit code (128 and the signal's number if one ended it). `input` and `merge_streams` of the launch have no
// meaning here. Fails as spawn() does.
Result<int> run_in_foreground(const Launch& launch);

}  // namespace ralph
