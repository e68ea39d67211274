// The texts for a session in a loop: the contract at its start, and the reason to continue after a stop.
#pragma once

#include <string>

#include "session/loop_request.h"

namespace ralph {

// Every continuation contains this mark; lines typed by users hardly ever do.
inline constexpr std::string_view kContinuationMark = "[ralph loop: iteration ";

std::string promise_tag(const LoopRequest& request);  // <promise>DONE</promise>

// `text` without the promise tag, for everything that a model may repeat: status and the like.
std::string without_promise_tag(const std::string& text, const LoopRequest& request);

// The task, the stopping rule and its strictness, and what not to do.
std::string prompt_contract(const LoopRequest& request);

// The text for a stop without the promise, with a promise after too little work, or with failing checks, whose
// `failures` it includes. `rule` is the row of engine/decide.
std::string continuation(const LoopRequest& request, int iteration, std::string_view rule, int background_tasks,
                         int tool_calls = 0, std::string_view failures = {});

// All of ralph's texts in which the session may have read the promise. Echoing one of them is not a promise.
std::string all_loop_texts(const LoopRequest& request, int iteration);

}  // namespace ralph
