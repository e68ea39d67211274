// Limits what a project's settings may say. A project may tighten the command policy, but not loosen it. Only the user
// decides whom to trust and what a known agent's name means.
#pragma once

#include <string>
#include <vector>

#include "settings/layers.h"

namespace ralph {

// Removes from a project's layer everything that only the user's own settings may say. Returns a line for each removal,
// which names the file to move it to. `user`: the user's own settings.
std::vector<std::string> confine(Layer& layer, const json::object& user, const std::string& user_file);

// Fails if the project defines an agent under the name of a known one: `--agent claude` must mean claude.
Status refuse_known_names(const Layer& layer);

// Adds the commands that the user denies to those that the project denies: a project cannot replace the user's list.
void join_denied(json::object& merged, const json::object& user);

}  // namespace ralph
