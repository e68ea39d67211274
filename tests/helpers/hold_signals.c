// hold_signals FILE -- PROGRAM ARGUMENTS…: each SIGSTOP or SIGKILL that the program or a descendant sends by kill() or
// pidfd_send_signal() waits in the kernel until the relay that counts in FILE (fork_relay) has advanced by two
// processes, or stands still. So a process that was alive when the sender took its snapshot has ended when its signal
// is sent: the sender is always too late, on every machine. Exits with 77 if this is not possible here.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kImpossible = 77, kUsage = 78, kStandstillMs = 100 };

static int fail(const char* what) {
  fprintf(stderr, "hold_signals: %s: %s\n", what, strerror(errno));
  return kImpossible;
}

static int listen_to_signals(void) {
  static struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_kill, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  static const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

static void hold(const volatile unsigned* count) {
  const unsigned from = *count;
  unsigned last = from;
  for (int still = 0; *count - from < 2 && still < kStandstillMs; ++still) {
    if (*count != last) last = *count, still = 0;
    usleep(1000);
  }
}

static void answer(int listener, const volatile unsigned* count) {
  struct seccomp_notif question;
  memset(&question, 0, sizeof question);
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return;  // its process was killed
  const int signal = (int)question.data.args[1];
  if (signal == SIGSTOP || signal == SIGKILL) hold(count);
  struct seccomp_notif_resp go_on = {question.id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE};
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
}

int main(int argc, char** argv) {
  if (argc < 4 || strcmp(argv[2], "--") != 0) return kUsage;
  const int file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, 2 * sizeof(unsigned)) != 0) return fail(argv[1]);
  const volatile unsigned* count = mmap(NULL, 2 * sizeof *count, PROT_READ, MAP_SHARED, file, 0);
  if (count == MAP_FAILED) return fail("mmap");
  int handover[2];
  if (pipe2(handover, O_CLOEXEC) != 0) return fail("pipe");
  // The child shares our descriptors until it executes the program: so we get the listener, and the program does not.
  const pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child < 0) return fail("clone");
  if (child == 0) {
    const int listener = listen_to_signals();
    if (listener < 0) _exit(fail("seccomp"));
    if (write(handover[1], &listener, sizeof listener) != sizeof listener) _exit(kImpossible);
    execv(argv[3], argv + 3);
    _exit(fail(argv[3]));
  }
  int listener = -1, status = 0;
  struct pollfd first = {handover[0], POLLIN, 0};
  while (poll(&first, 1, 50) == 0 && waitpid(child, &status, WNOHANG) == 0) {
  }
  if (first.revents == 0 || read(handover[0], &listener, sizeof listener) != sizeof listener) return kImpossible;
  while (waitpid(child, &status, WNOHANG) == 0) {
    struct pollfd asked = {listener, POLLIN, 0};
    if (poll(&asked, 1, 50) == 1 && asked.revents & POLLIN) answer(listener, count);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
