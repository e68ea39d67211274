#include "plan/memory_files.h"

#include <array>

#include "base/text.h"
#include "os/files.h"

namespace ralph {

bool is_memory_file(const std::string& path) {
  constexpr std::array<std::string_view, 3> kNames = {"CLAUDE.md", "AGENTS.md", "GEMINI.md"};
  return is_one_of(base_name(path), kNames) || path.starts_with(".claude/rules/") ||
         path.find("/.claude/rules/") != std::string::npos;
}

}  // namespace ralph
