// The displayed part of a tool's output: its first lines within the limits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct Excerpt {
  std::vector<std::string> lines;  // safe to print, no newlines; "…" where a line was cut
  size_t more = 0;                 // lines omitted
};

// Drops blank lines around the output. A line that redraws itself with CR is shown in its final state.
Excerpt excerpt_of(std::string_view output, size_t max_lines, size_t max_characters);

}  // namespace ralph
