// ralph: arguments -> command -> exit code.
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "cli/command.h"

namespace {

// A closed standard stream would give its number to the next file that is opened, and what is meant for the console
// would land in a lock or a journal.
void fill_standard_streams() {
  for (int fd = ::open("/dev/null", O_RDWR); fd >= 0; fd = ::open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    ::close(fd);
    return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const int code = ralph::cli::dispatch(words);
    return std::fflush(stdout) != 0 && code == 0 ? 2 : code;
  } catch (const std::system_error&) {
    return 2;  // standard output cannot be written (fmt throws then): there is nowhere to say so
  }
}
