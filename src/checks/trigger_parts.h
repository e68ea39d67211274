// For files that other tools also use: which part is compared. Pure: texts in, texts out.
#pragma once

#include <string>
#include <vector>

#include "checks/trigger_place.h"

namespace ralph {

// The compared part of a text, and `now` with that part restored from `before`.
std::string compared_part(const TriggerPlace& place, const std::string& text);
std::string with_part_of(const TriggerPlace& place, const std::string& before, const std::string& now);

// The names of settings that differ: "core.hooksPath", "permissions"; or a note that they can't be read. Empty if the
// file has no settings.
std::vector<std::string> changed_names(const TriggerPlace& place, const std::string& before, const std::string& now);

}  // namespace ralph
