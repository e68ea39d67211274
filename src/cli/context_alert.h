// The context monitor's reply to a host, shared by the hooks that run after a tool call.
#pragma once

#include <string_view>

#include "cli/hook_io.h"
#include "os/environment.h"

namespace ralph::cli {

// Sends the alert if there is one. Returns the exit code.
int tell_of_context(std::string_view hook, const Environment& environment, const HookPayload& payload,
                    Protocol protocol);

}  // namespace ralph::cli
