// A fast way to load settings for hooks: a host waits for them at every tool call.
#pragma once

#include <string>

#include "settings/settings.h"

namespace ralph {

// Like load_settings() with Distrusted::kLeftOut, except that `effective` and `origins`, which are for display, stay
// empty. If no file sets anything, the schema is not even parsed.
Result<LoadedSettings> load_settings_briefly(const std::string& project, const Environment& environment);
// The user's own settings alone.
Result<LoadedSettings> load_own_settings_briefly(const Environment& environment);

}  // namespace ralph
