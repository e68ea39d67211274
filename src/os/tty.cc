#include "os/tty.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace ralph {

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace ralph
