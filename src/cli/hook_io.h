// Standard input and output of a hook. A hook never breaks its host: what goes wrong is said on standard error and
// written to .ralph/loop/hooks.log where there is a project, and the host goes on as if the hook were not there.
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
                                           .help = "How the host is answered (default claude).",
                                           .choices = kProtocolNames};

// The payload from standard input, waited for a few seconds at most. What is wrong with it is complained of. Its `cwd`
// is the host's, else our own; empty if neither can be used. A process is one hook of one session: what complain() says
// later is about this one.
HookPayload read_payload(std::string_view hook);

Protocol protocol_of(const Arguments& arguments);

// Writes it and returns the exit code.
int send(const HookReply& reply);

// Says on standard error, and in the project's log, what went wrong.
void complain(std::string_view hook, std::string_view what);

}  // namespace ralph::cli
