// What a session in a loop is told: the contract at its start, and why it goes on when it wanted to stop.
#pragma once

#include <string>

#include "session/loop_request.h"

namespace ralph {

std::string promise_marker(const LoopRequest& request);  // <promise>DONE</promise>

// The task, the stopping rule, how strict it is, and what not to do.
std::string prompt_contract(const LoopRequest& request);

// After a stop without the promise, or with one that had too little work behind it. `rule` is the row of engine/decide.
std::string continuation(const LoopRequest& request, int iteration, std::string_view rule, int background_tasks,
                         int tool_calls = 0);

// Every text of ours in which the session may read the promise, the commands of the plugin included. Who repeats one of
// them has promised nothing.
std::string all_that_is_told(const LoopRequest& request, int iteration);

}  // namespace ralph
