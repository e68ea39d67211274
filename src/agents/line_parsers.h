// One parser for each kind of stream; each is made in the file named after its agent.
#pragma once

#include <memory>

#include "agents/stream.h"

namespace ralph {

std::unique_ptr<LineParser> make_claude_parser(const UsedBefore& before, const Clock& clock);
std::unique_ptr<LineParser> make_codex_parser(const UsedBefore& before, const Clock& clock);
std::unique_ptr<LineParser> make_amp_parser(const UsedBefore& before, const Clock& clock);
std::unique_ptr<LineParser> make_gemini_parser(const Clock& clock);
std::unique_ptr<LineParser> make_opencode_parser(const Clock& clock);

}  // namespace ralph
