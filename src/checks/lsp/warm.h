// The client side of the hub's socket: how commands and hooks query a project's warm servers.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace ralph::lsp {

// Sends one request and waits for the reply. kNotFound if nobody listens there. It is an error if the hub belongs to
// another user, speaks another version or does not answer in time (0: no limit).
Result<json::object> ask_hub(const std::string& socket, const json::object& request, Milliseconds limit);

// The servers that the hub runs; also empty if nobody listens. Failed ones are included, because asking one restarts
// it.
std::vector<std::string> warm_servers(const std::string& socket);

}  // namespace ralph::lsp
