// Hooks that are a program in a file of ralph's own, for hosts that load plugins: what install.h does for settings. The
// text is Host::own_text; its line `const RALPH = "ralph"` names the program that it calls.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hooks/install.h"

namespace ralph {

// The text, which calls `program`; empty for a host whose hooks are settings.
std::string own_file_text(const Host& host, std::string_view program);

// Fails with kInput if somebody else's file is in its place.
Result<MergedSettings> with_own_file(std::optional<std::string_view> text, std::string_view where, const Host& host,
                                     std::string_view program);

// Removes all of it. A file that is not ralph's is left alone.
MergedSettings without_own_file(std::string_view text, const Host& host);

HookSurvey survey_own_file(std::string_view text, const Host& host);

}  // namespace ralph
