// The beginning of a connection to an address, without waiting for its end.
#pragma once

#include <optional>
#include <string>

#include "os/files.h"

namespace ralph {

// The socket can be written when the connection is there or has failed; nullopt: it can't even begin.
std::optional<Fd> begin_to_connect(const std::string& address, int port);

}  // namespace ralph
