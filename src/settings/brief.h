// The settings as a hook needs them, which a host waits for at every tool call.
#pragma once

#include <string>

#include "settings/settings.h"

namespace ralph {

// As load_settings() without what is not believed, and load_own_settings(), but `effective` and `origins`, which are
// for people, stay empty. If no file says anything, not even the schema is read.
Result<LoadedSettings> load_settings_briefly(const std::string& project, const Environment& environment);
Result<LoadedSettings> load_own_settings_briefly(const Environment& environment);

}  // namespace ralph
