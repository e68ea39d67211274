// The texts for a session in a loop: the contract at its start, and why it must go on after a stop.
#pragma once

#include <string>

#include "session/loop_request.h"

namespace ralph {

// What every continuation contains, and hardly any line that a user types.
inline constexpr std::string_view kContinuationMark = "[ralph loop: iteration ";

std::string promise_marker(const LoopRequest& request);  // <promise>DONE</promise>

// `text` without the tag that would keep the promise, for everything that a model may repeat: status and the like.
std::string without_marker(const std::string& text, const LoopRequest& request);

// The task, the stopping rule, its strictness, and what not to do.
std::string prompt_contract(const LoopRequest& request);

// For a stop without the promise, with a promise after too little work, or with checks that fail, whose `failures` it
// tells. `rule` is the row of engine/decide.
std::string continuation(const LoopRequest& request, int iteration, std::string_view rule, int background_tasks,
                         int tool_calls = 0, std::string_view failures = {});

// All texts of ralph in which the session may have read the promise. Echoing one of them is not a promise.
std::string all_that_is_told(const LoopRequest& request, int iteration);

}  // namespace ralph
