// Standard input and output of a hook. A hook never breaks its host: it reports an error on standard error and in the
// project's .ralph/loop/hooks.log, and the host continues as if the hook were not there.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "hooks/payload.h"
#include "hooks/reply.h"

namespace ralph::cli {

inline constexpr Option kProtocolOption = {.name = "protocol",
                                           .letter = 0,
                                           .value = "NAME",
                                           .help = "The host, whose protocol the reply uses (default claude).",
                                           .choices = kProtocolChoices};

// Reads the payload from standard input, for a few seconds at most, and reports what is wrong with it. Its `cwd` is the
// host's, otherwise our own; empty if neither is usable. complain() refers to the payload read last.
HookPayload read_payload(std::string_view hook);

Protocol protocol_of(const Arguments& arguments);

// Writes the reply and returns the exit code.
int send(const HookReply& reply);

// Reports an error on standard error and in the project's log.
void complain(std::string_view hook, std::string_view what);

}  // namespace ralph::cli
