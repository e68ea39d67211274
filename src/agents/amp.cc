// Amp prints Claude Code's stream (`--stream-json`), with less in it: no costs, messages without ids, errors as one
// string. The reader takes all of that as it comes.
#include "agents/claude_reader.h"
#include "agents/line_parsers.h"

namespace ralph {

std::unique_ptr<LineParser> make_amp_parser(const UsedBefore& before, const Clock& clock) {
  return std::make_unique<ClaudeReader>(before, clock);
}

}  // namespace ralph
