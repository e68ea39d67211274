// The stream of Claude Code (`--output-format stream-json`), for other agents that print the same.
#pragma once

#include <memory>

#include "agents/stream.h"
#include "json/view.h"

namespace ralph {

// A message in the assistant's name that no model wrote: an error, the echo of a command.
bool is_written_by_claude_code(JsonView message);

std::unique_ptr<LineParser> make_claude_parser(const UsedBefore& before, const Clock& clock);

}  // namespace ralph
