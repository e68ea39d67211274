// The files in which agents keep lasting knowledge. A review may write them.
#pragma once

#include <string>

namespace ralph {

// CLAUDE.md, AGENTS.md, GEMINI.md in any folder, and everything below .claude/rules.
bool is_memory_file(const std::string& path);

}  // namespace ralph
