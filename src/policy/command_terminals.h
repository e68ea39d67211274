// Programs that run commands in terminals of their own, or type them there: tmux, screen.
#pragma once

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

void look_into_terminal(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
