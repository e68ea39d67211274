// The options that describe a loop, wherever it is started.
#pragma once

#include <array>

#include "cli/command.h"
#include "os/environment.h"
#include "session/loop_request.h"

namespace ralph::cli {

// All except --max-iterations, which every command explains in its own way.
inline constexpr std::array kLoopOptions = {
    Option{"completion-promise", 0, "TEXT", "The text of the promise (default DONE)."},
    Option{"min-tool-calls", 0, "N", "A promise after fewer tool calls does not count (default 1)."},
    Option{"stagnation-limit", 0, "N",
           "End as STAGNANT after N continuations in a row without a tool call (default 3; 0: off)."},
    Option{.name = "on-promise-no-work",
           .letter = 0,
           .value = "POLICY",
           .help = "How to treat a promise after too few tool calls (default reject).",
           .choices = "reject|warn|accept"},
    Option{"ultrawork", 0, "", "Begin every continuation with the ultrawork instruction."},
    Option{"no-promise", 0, "", "No promise is needed: the loop is complete when its checks pass."},
};

inline constexpr Option kCheckOption{.name = "check",
                                     .letter = 0,
                                     .value = "COMMAND",
                                     .help = "The loop is complete only when this command exits with 0.",
                                     .repeatable = true};

// Criteria about what the project's tools find.
inline constexpr std::array kCriteriaOptions = {
    Option{"zero-errors", 0, "", "Complete only if the project's compilers, checkers and linters find no errors."},
    Option{"zero-warnings", 0, "", "Complete only if they find no warnings."},
    Option{"zero-security", 0, "", "Complete only if there are no security findings."},
    Option{"tests-pass", 0, "", "Complete only if the project's tests pass."},
};

inline constexpr Positional kTaskPositional = {
    "TASK", "What to do. With '@src/ fix it', only what the tools find in src/ counts.", true};

// The task and the options, validated. Targets ("@src/ fix it") are relative to `folder`.
Result<LoopRequest> loop_request_from(const Arguments& arguments, const std::string& folder,
                                      const std::string& project);

// The session given by --session, or the one that this command runs in. Empty: none, or --all.
Result<std::string> session_from(const Arguments& arguments, const Environment& environment);

}  // namespace ralph::cli
