// Addresses of names, found out in a child process: the library's call blocks, and a proxy must not.
#pragma once

#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

// The descriptor can be read to its end when the answer is there. The child is reaped by nobody: SIGCHLD must be
// ignored.
Result<Fd> begin_to_resolve(const std::string& host);

// The answer's bytes as addresses; empty: there are none.
std::vector<std::string> addresses_in(const std::string& answer);

// Waits for the answer.
std::vector<std::string> resolve_now(const std::string& host);

}  // namespace ralph
