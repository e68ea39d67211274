#include <algorithm>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/descriptors.h"

namespace ralph {

void release_descriptors(unsigned first, unsigned last, Descriptors how) {
  const unsigned flags = how == Descriptors::kCloseOnExec ? CLOSE_RANGE_CLOEXEC : 0U;
  if (::syscall(SYS_close_range, first, last, flags) == 0) return;
  // Descriptors opened before the limit was lowered may lie beyond it: check at least a few thousand.
  constexpr rlim_t kFew = 4096, kMany = 1 << 20;
  rlimit limit{};
  const rlim_t most = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::clamp(limit.rlim_max, kFew, kMany) : kMany;
  for (unsigned fd = first; fd <= last && fd < most; ++fd) {
    if (how == Descriptors::kClose) {
      ::close(static_cast<int>(fd));
    } else {
      ::fcntl(static_cast<int>(fd), F_SETFD, FD_CLOEXEC);
    }
  }
}

void leave_caller() {
  ::setsid();
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
}

}  // namespace ralph
