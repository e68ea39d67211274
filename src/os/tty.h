// Whether a descriptor is a terminal, and its width.
#pragma once

#include <cstddef>

namespace ralph {

bool is_terminal(int fd);
size_t terminal_width(int fd);  // 80 if unknown

}  // namespace ralph
