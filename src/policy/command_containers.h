// Programs that run a command in a separate place: a container, a pod, a hosted machine. The paths of such a command
// are not this machine's, but a database that it empties is real.
#pragma once

#include <string_view>

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

bool is_container_runner(std::string_view program);

void look_into_container(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
