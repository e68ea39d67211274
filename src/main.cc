// ralph: arguments -> command -> exit code.
#include <cerrno>
#include <cstdio>
#include <cstring>
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

// If a standard stream is closed, the next file to be opened gets its descriptor, and console output would end up in a
// lock file or a journal.
void fill_standard_streams() {
  const auto is_open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
  if (is_open(STDIN_FILENO) && is_open(STDOUT_FILENO) && is_open(STDERR_FILENO)) return;
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

void say_unwritten(int error) {
  say("ralph: cannot write to standard output: ");
  say(std::strerror(error));
  say("\n");
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  ::signal(SIGCHLD, SIG_DFL);  // some daemons pass it on as ignored, which would hide the exit status of children
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const int code = ralph::cli::dispatch(words);
    if (std::fflush(stdout) == 0) return code;
    say_unwritten(errno);
    if (code != 0) return code;
  } catch (const std::system_error& error) {  // fmt throws if a stream cannot be written
    say_unwritten(error.code().value());
  } catch (const std::bad_alloc&) {
    say("ralph: out of memory; give it more, or make what it reads smaller\n");
  }
  return 2;
}
