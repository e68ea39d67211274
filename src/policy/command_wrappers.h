// Programs that run the rest of their words: sudo, env, timeout, npx, `uv run`.
#pragma once

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

// Whether `program` is one; if so, adds what it runs to `inner`.
bool look_into_wrapper(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
