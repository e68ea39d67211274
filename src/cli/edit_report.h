// What hooks report to the model after an edit.
#pragma once

#include <string>

#include "cli/hook_io.h"
#include "os/files.h"
#include "session/auto_mode.h"
#include "session/loop_store.h"

namespace ralph::cli {

// Records which files the session has edited, and runs the tools on them if the project allows that. Empty: there is
// nothing to report, or the call was not an edit.
std::string edit_report(const HookCall& call, EditTools tools);

}  // namespace ralph::cli
