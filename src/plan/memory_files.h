// The files in which agents keep what they learn beyond a plan: a review may write them.
#pragma once

#include <string>

namespace ralph {

// CLAUDE.md, AGENTS.md, GEMINI.md in any folder, and what is below .claude/rules.
bool is_memory_file(const std::string& path);

}  // namespace ralph
