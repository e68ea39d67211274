// The stream of Claude Code (`--output-format stream-json`), for other agents that print the same.
#pragma once

#include <memory>

#include "agents/stream.h"

namespace ralph {

std::unique_ptr<LineParser> make_claude_parser(const UsedBefore& before, const Clock& clock);

}  // namespace ralph
