// What of a file is compared that is other people's too. Pure: texts in, texts out.
#pragma once

#include <string>
#include <vector>

#include "checks/trigger_place.h"

namespace ralph {

// What of a text is compared, and `now` with that as `before` has it.
std::string compared_part(const TriggerPlace& place, const std::string& text);
std::string with_part_of(const TriggerPlace& place, const std::string& before, const std::string& now);

// The settings that differ: "core.hooksPath", "permissions"; or that they can't be read. Empty: it has no settings.
std::vector<std::string> changed_names(const TriggerPlace& place, const std::string& before, const std::string& now);

}  // namespace ralph
