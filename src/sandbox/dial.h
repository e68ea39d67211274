// Finds the addresses of a name, and connects to one, without blocking.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

// Resolves a name in a child process: the library call blocks, and the proxy must not. The answer can be read from the
// descriptor until end of file. Nobody reaps the child, so SIGCHLD must be ignored.
Result<Fd> begin_to_resolve(const std::string& host);

// The addresses in an answer; empty if there are none.
std::vector<std::string> addresses_in(const std::string& answer);

// Waits for the answer.
std::vector<std::string> resolve_now(const std::string& host);

// The socket becomes writable once the connection is established or has failed. nullopt if it could not even be
// started.
std::optional<Fd> begin_to_connect(const std::string& address, int port);

}  // namespace ralph
