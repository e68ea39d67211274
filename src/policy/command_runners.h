// Programs that run other commands: the rest of their words, one for each file or word that they are given, in a
// container, or in a terminal of their own. Each function adds the commands run to `inner`.
#pragma once

#include <string_view>

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

// Programs that run the rest of their words: sudo, env, timeout, npx, `uv run`. Whether `program` is one; if so, adds
// what it runs.
bool look_into_wrapper(std::string_view program, Words words, InnerCommands& inner);

// Programs that run a command for each file or word that they are given: xargs, find, fd, parallel. `input` and
// `listing`: as in inner_commands().
void look_into_xargs(const ShellCommand& command, const std::optional<std::string>& input,
                     const std::optional<Listing>& listing, InnerCommands& inner);
void look_into_parallel(const ShellCommand& command, const std::optional<std::string>& input,
                        const std::optional<Listing>& listing, InnerCommands& inner);
void look_into_find(const ShellCommand& command, InnerCommands& inner);
void look_into_fd(const ShellCommand& command, InnerCommands& inner);

// Programs that run a command in a separate place: a container, a pod, a hosted machine. The paths of such a command
// are not this machine's, but a database that it empties is real.
bool is_container_runner(std::string_view program);
void look_into_container(std::string_view program, Words words, InnerCommands& inner);

// Programs that run or type commands in their own terminals: tmux, screen.
void look_into_terminal(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
