// From what was typed to a command and its exit code.
#pragma once

#include <span>
#include <string>

namespace ralph::cli {

int dispatch(std::span<const std::string> words);

}  // namespace ralph::cli
