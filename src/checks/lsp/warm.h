// The other side of the hub's socket: what commands and hooks ask the warm servers of a project.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace ralph::lsp {

// Sends one request and waits for the reply. kNotFound: nobody listens there. A hub that belongs to another user,
// speaks another version or does not answer in time (0: no limit) is an error.
Result<json::object> ask_hub(const std::string& socket, const json::object& request, Milliseconds limit);

// The servers that are kept there; empty also if nobody listens. One that has failed is among them: asking it starts it
// again.
std::vector<std::string> warm_servers(const std::string& socket);

}  // namespace ralph::lsp
