// Programs that run a command in a place of its own: a container, a pod, a machine of a service. The paths of such a
// command are not this machine's, but the database that it empties is a real one.
#pragma once

#include <string_view>

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

bool is_container_runner(std::string_view program);

void look_into_container(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
