// What a terminal is and how wide.
#pragma once

#include <cstddef>

namespace ralph {

bool is_terminal(int fd);
size_t terminal_width(int fd);  // 80 if it is unknown

}  // namespace ralph
