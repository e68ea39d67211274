// The parts of Claude Code's stream that need no memory: notes on its state, and what a failure is.
#pragma once

#include <optional>
#include <string>

#include "agents/events.h"
#include "json/view.h"

namespace ralph {

// A line of type "system".
void claude_system_event(JsonView line, std::string& scratch, EventSink& sink);

// An `assistant` event that is an API error, with `message` as its text.
event::Failure api_failure(JsonView line, std::string_view message, WallTime now);

// A `result` that failed. Nothing if it says no more than an API error that was `told` before it.
std::optional<event::Failure> result_failure(JsonView line, bool told, WallTime now, std::string& scratch);

}  // namespace ralph
