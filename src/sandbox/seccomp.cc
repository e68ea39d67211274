#include "sandbox/seccomp.h"

#include <array>
#include <cerrno>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "os/files.h"

namespace ralph {
namespace {

using Filter = std::unique_ptr<void, decltype(&::seccomp_release)>;

// These are for administrators, or would bypass the other rules.
constexpr std::array kRefused = {
    SCMP_SYS(mount),         SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),      SCMP_SYS(fsmount),
    SCMP_SYS(fspick),        SCMP_SYS(mount_setattr),
    SCMP_SYS(setns),         SCMP_SYS(keyctl),
    SCMP_SYS(add_key),       SCMP_SYS(request_key),
    SCMP_SYS(bpf),           SCMP_SYS(perf_event_open),
    SCMP_SYS(kexec_load),    SCMP_SYS(kexec_file_load),
    SCMP_SYS(init_module),   SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(open_by_handle_at),
    SCMP_SYS(quotactl),      SCMP_SYS(swapon),
    SCMP_SYS(swapoff),       SCMP_SYS(reboot),
    SCMP_SYS(acct),          SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime), SCMP_SYS(syslog),
    SCMP_SYS(userfaultfd),   SCMP_SYS(fanotify_init),
};

// Programs treat these as missing on an old kernel, and do without.
constexpr std::array kAbsent = {SCMP_SYS(clone3), SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter),
                                SCMP_SYS(io_uring_register)};

constexpr std::array kAllowedFamilies = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
constexpr int kLargestAllowed = AF_NETLINK;

bool add(scmp_filter_ctx filter, int error, int call, std::initializer_list<scmp_arg_cmp> when = {}) {
  const int added = ::seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(static_cast<unsigned>(error)), call,
                                             static_cast<unsigned>(when.size()), when.begin());
  return added == 0 || added == -EDOM || added == -EOPNOTSUPP;  // the last two: this architecture lacks the call
}

bool add_families(scmp_filter_ctx filter, int call) {
  bool good = add(filter, EAFNOSUPPORT, call, {scmp_arg_cmp{0, SCMP_CMP_GT, kLargestAllowed, 0}});
  for (int family = 0; family < kLargestAllowed; ++family) {
    bool allowed = false;
    for (const int one : kAllowedFamilies) allowed |= one == family;
    const scmp_datum_t value = static_cast<scmp_datum_t>(family);
    if (!allowed) good &= add(filter, EAFNOSUPPORT, call, {scmp_arg_cmp{0, SCMP_CMP_EQ, value, 0}});
  }
  return good;
}

bool add_all(scmp_filter_ctx filter) {
  bool good = true;
  for (const int call : kRefused) good &= add(filter, EPERM, call);
  for (const int call : kAbsent) good &= add(filter, ENOSYS, call);
  good &= add_families(filter, SCMP_SYS(socket));
  good &= add_families(filter, SCMP_SYS(socketpair));
  const scmp_datum_t user = CLONE_NEWUSER;
  good &= add(filter, EPERM, SCMP_SYS(unshare), {scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, user, user}});
  good &= add(filter, EPERM, SCMP_SYS(clone), {scmp_arg_cmp{0, SCMP_CMP_MASKED_EQ, user, user}});
  // The kernel uses only the lower half of the request.
  constexpr scmp_datum_t kLowerHalf = 0xffffffff;
  for (const scmp_datum_t request : {scmp_datum_t{TIOCSTI}, scmp_datum_t{TIOCLINUX}})
    good &= add(filter, EPERM, SCMP_SYS(ioctl), {scmp_arg_cmp{1, SCMP_CMP_MASKED_EQ, kLowerHalf, request}});
  return good;
}

}  // namespace

Result<std::string> seccomp_program() {
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release);
  const Fd file(::memfd_create("filter", MFD_CLOEXEC));
  if (!filter || !file || !add_all(filter.get()) || ::seccomp_export_bpf(filter.get(), file.get()) != 0)
    return fail(ErrorKind::kIo, "cannot build the sandbox's system call filter: {}", errno_text(errno));
  ::lseek(file.get(), 0, SEEK_SET);
  return read_file(fmt::format("/proc/self/fd/{}", file.get()));
}

}  // namespace ralph
