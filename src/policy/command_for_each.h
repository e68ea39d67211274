// Programs that run a command for each file or word that they are given: xargs, find, fd, parallel. Each function adds
// the commands run to `inner`.
#pragma once

#include "policy/command_view.h"

namespace ralph {

// `input` and `listing`: as in inner_commands().
void look_into_xargs(const ShellCommand& command, const std::optional<std::string>& input,
                     const std::optional<Listing>& listing, InnerCommands& inner);
void look_into_parallel(const ShellCommand& command, const std::optional<std::string>& input,
                        const std::optional<Listing>& listing, InnerCommands& inner);
void look_into_find(const ShellCommand& command, InnerCommands& inner);
void look_into_fd(const ShellCommand& command, InnerCommands& inner);

}  // namespace ralph
