// The counterpart of install.h for hosts that load plugins: the hooks are a program in a file that is all ralph's. Its
// text is Host::own_text, where the line `const RALPH = "ralph"` names the program to call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hooks/install.h"

namespace ralph {

// The file's text, calling `program`; empty for a host whose hooks are settings.
std::string own_file_text(const Host& host, std::string_view program);

// Fails with kInput if the existing file is not ralph's.
Result<MergedSettings> with_own_file(std::optional<std::string_view> text, std::string_view where, const Host& host,
                                     std::string_view program);

// Removes the whole file. A file that is not ralph's is left alone.
MergedSettings without_own_file(std::string_view text, const Host& host);

HookSurvey survey_own_file(std::string_view text, const Host& host);

}  // namespace ralph
