// What is shown of a tool's output: its size, and its first lines as far as the limits allow.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct OutputSize {
  size_t lines = 0;
  size_t characters = 0;
};
OutputSize size_of_output(std::string_view output);

struct Excerpt {
  std::vector<std::string> lines;  // safe to print, no line ends; "…" where a line was cut
  size_t more = 0;                 // lines that are left out
};

// Blank lines around the output are passed over. A line that redraws itself with CR is shown as it looked in the end.
Excerpt excerpt_of(std::string_view output, size_t max_lines, size_t max_characters);

}  // namespace ralph
