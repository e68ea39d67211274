// What a project's settings may not say. A project may tighten the command policy, not loosen it; whom to trust and
// what a known agent's name means is the user's own business.
#pragma once

#include <string>
#include <vector>

#include "settings/layers.h"

namespace ralph {

// Removes what only the user's own settings may say from a project's layer. Returns a line for each, which names the
// file to move it to. `user`: the user's own settings.
std::vector<std::string> confine(Layer& layer, const json::object& user, const std::string& user_file);

// An agent that a project defines under the name of a known one is an error: `--agent claude` means claude.
Status refuse_known_names(const Layer& layer);

// A project adds to the commands that the user's own settings deny; it does not replace them.
void join_denied(json::object& merged, const json::object& user);

}  // namespace ralph
