// What the hooks after an edit have to say.
#pragma once

#include <string>

#include "cli/hook_io.h"
#include "os/files.h"
#include "session/auto_mode.h"
#include "session/loop_store.h"

namespace ralph::cli {

// Notes which files the session has edited, and lets the tools look at them if they may. Empty:
// nothing to say, or the call was no edit.
std::string edit_report(const HookCall& call, EditTools tools);

}  // namespace ralph::cli
