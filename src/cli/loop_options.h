// The options that describe a loop, wherever it is started.
#pragma once

#include "cli/command.h"
#include "session/loop_request.h"

namespace ralph::cli {

inline constexpr Option kMaxIterationsOption = {"max-iterations", 'n', "N", "Continue at most N times (default 50)."};
inline constexpr Option kPromiseOption = {"completion-promise", 0, "TEXT", "The text of the promise (default DONE)."};
inline constexpr Option kMinToolCallsOption = {"min-tool-calls", 0, "N",
                                               "A promise after fewer tool calls does not count (default 1)."};
inline constexpr Option kNoWorkOption = {.name = "on-promise-no-work",
                                         .letter = 0,
                                         .value = "POLICY",
                                         .help = "How to treat such a promise (default reject).",
                                         .choices = "reject|warn|accept"};
inline constexpr Option kUltraworkOption = {"ultrawork", 0, "",
                                            "Begin every continuation with the ultrawork instruction."};

// Criteria of loops based on diagnostics: recognised only to be refused by name.
inline constexpr Option kZeroErrorsOption = {"zero-errors", 0, "", "Not in this version: refused."};
inline constexpr Option kZeroWarningsOption = {"zero-warnings", 0, "", "Not in this version: refused."};
inline constexpr Option kZeroSecurityOption = {"zero-security", 0, "", "Not in this version: refused."};
inline constexpr Option kTestsPassOption = {"tests-pass", 0, "", "Not in this version: refused."};
inline constexpr Option kStagnationOption = {"stagnation-limit", 0, "N", "Not in this version: refused."};

inline constexpr Positional kTaskPositional = {"TASK", "What is to be done.", true};

// The task and the options, validated.
Result<LoopRequest> loop_request_from(const Arguments& arguments);

}  // namespace ralph::cli
