// Which run is at work in a project.
#pragma once

#include <optional>
#include <string>

namespace ralph::cli {

// The id of the run that is active here; nullopt: none. It holds two locks, one of which an agent may have removed.
std::optional<std::string> live_run(const std::string& project);

}  // namespace ralph::cli
