// Resolves names in a child process: the library call blocks, and the proxy must not.
#pragma once

#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

// The answer can be read from the descriptor until end of file. Nobody reaps the child, so SIGCHLD must be ignored.
Result<Fd> begin_to_resolve(const std::string& host);

// The addresses in an answer; empty if there are none.
std::vector<std::string> addresses_in(const std::string& answer);

// Waits for the answer.
std::vector<std::string> resolve_now(const std::string& host);

}  // namespace ralph
