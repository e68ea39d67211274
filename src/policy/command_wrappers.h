// Programs that only run the rest of their words: sudo, env, timeout, npx, `uv run`.
#pragma once

#include "policy/command_view.h"
#include "policy/command_words.h"

namespace ralph {

// Whether `program` is one; then `inner` tells what it runs.
bool look_into_wrapper(std::string_view program, Words words, InnerCommands& inner);

}  // namespace ralph
