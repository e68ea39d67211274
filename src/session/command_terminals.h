// Programs that run commands in terminals of their own, or type them there: tmux, screen.
#pragma once

#include "session/command_view.h"
#include "session/command_words.h"

namespace ralph {

void look_into_terminal(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
