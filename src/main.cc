// ralph: arguments -> command -> exit code.
#include <cstdio>
#include <fcntl.h>
#include <new>
#include <signal.h>
#include <string>
#include <string_view>
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

// Allocates nothing and throws nothing.
void say(std::string_view line) {
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  ::signal(SIGCHLD, SIG_DFL);  // inherited as ignored from some daemons, it would hide how children end
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const int code = ralph::cli::dispatch(words);
    if (std::fflush(stdout) == 0) return code;
    say("ralph: cannot write to standard output\n");
    if (code != 0) return code;
  } catch (const std::system_error&) {  // fmt throws if a stream cannot be written
    say("ralph: cannot write to standard output\n");
  } catch (const std::bad_alloc&) {
    say("ralph: out of memory; give it more, or make what it reads smaller\n");
  }
  return 2;
}
