// The system calls that a sandbox refuses, as a filter program for the kernel.
#pragma once

#include <string>

#include "base/result.h"

namespace ralph {

// Everything is allowed but: sockets other than UNIX, INET, INET6 and NETLINK (vsock belongs to no namespace), new user
// namespaces, mounts, keys, bpf, performance counters, kernel modules and the like, and the ioctls that type into a
// terminal. clone3, whose flags a filter can't see, and io_uring, whose calls it can't see, do not exist.
// The program is in the kernel's own format, for bubblewrap's --seccomp.
Result<std::string> seccomp_program();

}  // namespace ralph
