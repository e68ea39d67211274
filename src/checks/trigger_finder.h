// Finds the files that currently exist at a watched place.
#pragma once

#include <map>
#include <string>

#include "checks/glance.h"
#include "checks/trigger_place.h"

namespace ralph {

// By path, each with its own place.
std::map<std::string, TriggerPlace> files_of(const TriggerPlace& place, Glance& glance);

// The place of a single file within `place`.
TriggerPlace file_of(const TriggerPlace& place, std::string path, TriggerKind kind);

bool is_whole(TriggerKind kind);  // the whole file is compared, and its mode
bool has_part(const TriggerPlace& program, const std::string& path);

}  // namespace ralph
