// The system calls that a sandbox refuses, as a seccomp filter program.
#pragma once

#include <string>

#include "base/result.h"

namespace ralph {

// Everything is allowed except: sockets other than UNIX, INET, INET6 and NETLINK (vsock belongs to no namespace), new
// user namespaces, mounts, keys, bpf, performance counters, kernel modules and the like, and the ioctls that type into
// a terminal. clone3 and io_uring are reported as missing, because a filter can't see their flags and calls. The
// program is in the kernel's own format, for bubblewrap's --seccomp.
Result<std::string> seccomp_program();

}  // namespace ralph
