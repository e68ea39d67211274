// Programs that run or type commands in their own terminals: tmux, screen.
#pragma once

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

void look_into_terminal(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
