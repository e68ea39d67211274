// old_kernel CALL=ERRNO… -- PROGRAM ARGUMENTS…: runs the program as on a kernel, or under a seccomp profile, where
// these system calls fail. Applies to all its descendants.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
  const char* name;
  int number;
} calls[] = {{"pidfd_open", SYS_pidfd_open},
             {"pidfd_send_signal", SYS_pidfd_send_signal},
             {"kill", SYS_kill},
             {"prctl", SYS_prctl},
             {"close_range", SYS_close_range},
             {"signalfd4", SYS_signalfd4},
             {"ppoll", SYS_ppoll},
             {"epoll_create1", SYS_epoll_create1},
             {"epoll_ctl", SYS_epoll_ctl},
             {"epoll_pwait", SYS_epoll_pwait},
#ifdef SYS_epoll_wait
             {"epoll_wait", SYS_epoll_wait},
#endif
             {"inotify_init1", SYS_inotify_init1},
#ifdef SYS_poll
             {"poll", SYS_poll},
#endif
#ifdef SYS_vfork
             {"vfork", SYS_vfork},
#endif
             {"fork", SYS_clone}};

static struct sock_filter filter[64];
static unsigned short length = 0;

static void add(unsigned short code, unsigned char yes, unsigned char no, unsigned value) {
  filter[length++] = (struct sock_filter){code, yes, no, value};
}

int main(int argc, char** argv) {
  add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
  int at = 1;
  for (; at < argc && strcmp(argv[at], "--") != 0; ++at) {
    char* equals = strchr(argv[at], '=');
    if (!equals) return 100;
    *equals = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
      if (strcmp(calls[i].name, argv[at]) != 0) continue;
      add(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)calls[i].number);
      add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (unsigned)atoi(equals + 1));
    }
  }
  add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("old_kernel");
    return 100;
  }
  execv(argv[at + 1], argv + at + 1);
  return 101;
}
