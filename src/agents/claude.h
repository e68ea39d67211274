// The stream of Claude Code (`--output-format stream-json`), shared with other agents that use the same format.
#pragma once

#include <memory>

#include "agents/stream.h"
#include "json/view.h"

namespace ralph {

// Whether Claude Code itself wrote this assistant message, not a model: an error, the echo of a command.
bool is_written_by_claude_code(JsonView message);

std::unique_ptr<LineParser> make_claude_parser(const UsedBefore& before, const Clock& clock);

}  // namespace ralph
