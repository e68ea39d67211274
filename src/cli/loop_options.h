// The options that describe a loop, wherever it is started.
#pragma once

#include <array>

#include "cli/command.h"
#include "os/environment.h"
#include "session/loop_request.h"

namespace ralph::cli {

// Besides --max-iterations, which every command explains in its own way.
inline constexpr std::array kLoopOptions = {
    Option{"completion-promise", 0, "TEXT", "The text of the promise (default DONE)."},
    Option{"min-tool-calls", 0, "N", "A promise after fewer tool calls does not count (default 1)."},
    Option{"stagnation-limit", 0, "N",
           "End as STAGNANT after N continuations in a row without a tool call (3; 0: off)."},
    Option{.name = "on-promise-no-work",
           .letter = 0,
           .value = "POLICY",
           .help = "How to treat such a promise (default reject).",
           .choices = "reject|warn|accept"},
    Option{"ultrawork", 0, "", "Begin every continuation with the ultrawork instruction."},
};

// Criteria of loops based on diagnostics: recognised only to be refused by name.
inline constexpr std::array kRefusedLoopOptions = {
    Option{"zero-errors", 0, "", "Not in this version: refused."},
    Option{"zero-warnings", 0, "", "Not in this version: refused."},
    Option{"zero-security", 0, "", "Not in this version: refused."},
    Option{"tests-pass", 0, "", "Not in this version: refused."},
};

inline constexpr Positional kTaskPositional = {"TASK", "What is to be done.", true};

// The task and the options, validated.
Result<LoopRequest> loop_request_from(const Arguments& arguments);

// The session given by --session, or the one in which this runs. Empty: none, or --all.
Result<std::string> session_from(const Arguments& arguments, const Environment& environment);

}  // namespace ralph::cli
