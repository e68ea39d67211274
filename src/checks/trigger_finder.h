// Which files there are now at a place that is watched.
#pragma once

#include <map>
#include <string>

#include "checks/glance.h"
#include "checks/trigger_place.h"

namespace ralph {

// By path, each with a place of its own.
std::map<std::string, TriggerPlace> files_of(const TriggerPlace& place, Glance& glance);

// The place of one file of another place.
TriggerPlace file_of(const TriggerPlace& place, std::string path, TriggerKind kind);

bool is_whole(TriggerKind kind);  // all of a file is compared, with its mode
bool is_at_or_below(const std::string& path, const std::string& folder);
bool has_part(const TriggerPlace& program, const std::string& path);

}  // namespace ralph
