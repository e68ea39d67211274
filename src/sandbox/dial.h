// Non-blocking connect to an address.
#pragma once

#include <optional>
#include <string>

#include "os/files.h"

namespace ralph {

// The socket becomes writable once the connection is established or has failed. nullopt if it could not even be
// started.
std::optional<Fd> begin_to_connect(const std::string& address, int port);

}  // namespace ralph
