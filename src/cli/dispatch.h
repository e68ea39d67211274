// Runs the command given by the words of a command line and returns its exit code.
#pragma once

#include <span>
#include <string>

namespace ralph::cli {

int dispatch(std::span<const std::string> words);

}  // namespace ralph::cli
