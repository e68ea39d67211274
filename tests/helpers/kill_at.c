// Runs ralph under ptrace and kills it at an exact point; passes on its output and exit code (128 + signal).
//
//   kill_at [--log FILE] --count -- ralph ...
//   kill_at [--log FILE] --victim loop|guardian|both --point N --kind before|torn|after -- ralph ...
//   kill_at [--log FILE] --fail write|fsync|fdatasync:ERRNO:N[+] -- ralph ...
//
// A point is a system call of a ralph process: a write() to a journal, or any rename, unlink, fsync or fdatasync; the
// first is 1. "before": killed at the entry, so nothing was done; "after": at the exit; "torn": after half of the bytes
// were written (writes only). --count prints the number of points to standard error. --fail makes the Nth such call on
// a journal fail (N+: and all later ones) without executing it. FILE gets a line for each point ("3 loop write PATH")
// or for what was done ("killed loop,guardian before 3 loop write PATH"), and is empty if that point was never reached.
//
// Only processes that run the same program are traced. After the kill nobody is, so the other one can clean up. Exit
// codes: 77: not possible here, 78: wrong usage, 124: not done within a minute.
#define _GNU_SOURCE
#include <stdio.h>
#ifndef __x86_64__
int main(void) {
  fputs("kill_at: it knows the registers of x86_64 only\n", stderr);
  return 77;
}
#else
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kMost = 64, kImpossible = 77, kUsage = 78, kTimeout = 124, kSeconds = 60, kPath = 4096 };
enum Kind { kBefore, kTorn, kAfter };
enum Then { kNothing, kStrike, kFail };  // at the exit of the current call

static struct Tracee {
  pid_t pid;
  enum Then then;
} tracees[kMost];
static int tracee_count;

static pid_t root;
static int root_status, root_ended;
static char image[kPath];  // the program that root executed
static int detaching;      // the work is done

static int count_only, victim_loop, victim_guardian, kind = -1;
static long point, fail_at, points, calls;
static int fail_error, fail_later_too, fail_call = -1;
static FILE* log_file;
static char where[2 * kPath];  // the current point, for the log

static void die(int code, const char* what, const char* more) {
  fprintf(stderr, "kill_at: %s%s\n", what, more);
  if (root > 0) kill(root, SIGKILL);  // the other tracees end with us
  exit(code);
}

static void too_late(int signal) {
  (void)signal;
  static const char kText[] = "kill_at: not done within a minute\n";
  if (write(STDERR_FILENO, kText, sizeof kText - 1) < 0) _exit(kTimeout);
  if (root > 0 && !root_ended) kill(root, SIGKILL);
  _exit(kTimeout);
}

// ---- what is known about a process

static struct Tracee* tracee_of(pid_t pid) {
  for (int i = 0; i < tracee_count; ++i)
    if (tracees[i].pid == pid) return &tracees[i];
  if (tracee_count == kMost) die(kUsage, "too many processes", "");
  tracees[tracee_count] = (struct Tracee){pid, kNothing};
  return &tracees[tracee_count++];
}

static void forget(pid_t pid) {
  for (int i = 0; i < tracee_count; ++i)
    if (tracees[i].pid == pid) tracees[i--] = tracees[--tracee_count];
}

static void link_of(pid_t pid, const char* name, char* target) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  const ssize_t length = readlink(path, target, kPath - 1);
  target[length < 0 ? 0 : length] = '\0';
}

static int is_journal(pid_t pid, unsigned long fd, char* target) {
  static const char kName[] = "/journal.jsonl";
  char name[32];
  snprintf(name, sizeof name, "fd/%d", (int)fd);
  link_of(pid, name, target);
  const size_t length = strlen(target), suffix = sizeof kName - 1;
  return length >= suffix && strcmp(target + length - suffix, kName) == 0;
}

static void text_at(pid_t pid, unsigned long address, char* text) {
  size_t length = 0;
  for (; length < kPath - 1; ++length) {  // byte by byte, as the next page may not be mapped
    struct iovec here = {text + length, 1}, there = {(void*)(address + length), 1};
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) != 1 || text[length] == '\0') break;
  }
  text[length] = '\0';
}

// The guardian's child of that name; a child that the loop has just forked has the same name. 0: there is none (yet).
static pid_t find_loop(void) {
  for (int i = 0; i < tracee_count; ++i) {
    char path[64], name[32] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)tracees[i].pid);
    FILE* file = fopen(path, "r");
    if (!file) continue;
    const int got = fscanf(file, "%*d (%31[^)]) %*c %d", name, &parent);
    fclose(file);
    if (got == 2 && parent == root && strcmp(name, "loop") == 0) return tracees[i].pid;
  }
  return 0;
}

// ---- points

// The path that a call concerns, if the call is a point.
static const char* name_of_point(pid_t pid, const struct user_regs_struct* regs, char* path) {
  switch (regs->orig_rax) {
    case SYS_write:
      return is_journal(pid, regs->rdi, path) ? "write" : NULL;
    case SYS_fsync:
      is_journal(pid, regs->rdi, path);
      return "fsync";
    case SYS_fdatasync:
      is_journal(pid, regs->rdi, path);
      return "fdatasync";
    case SYS_rename:
      text_at(pid, regs->rsi, path);
      return "rename";
    case SYS_renameat:
    case SYS_renameat2:
      text_at(pid, regs->r10, path);
      return "rename";
    case SYS_unlink:
      text_at(pid, regs->rdi, path);
      return "unlink";
    case SYS_unlinkat:
      text_at(pid, regs->rsi, path);
      return "unlink";
    default:
      return NULL;
  }
}

static void end_of(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, __WALL) == pid && !WIFEXITED(status) && !WIFSIGNALED(status)) {
  }
  forget(pid);
  if (pid == root) root_status = status, root_ended = 1;
}

// Kills the victims, waits until they are dead, and releases all others.
static void strike(pid_t at) {
  const pid_t loop = find_loop();
  const pid_t guardian_victim = victim_guardian ? root : 0, loop_victim = victim_loop ? loop : 0;
  if (guardian_victim) kill(guardian_victim, SIGKILL);
  if (loop_victim) kill(loop_victim, SIGKILL);
  if (guardian_victim) end_of(guardian_victim);
  if (loop_victim) end_of(loop_victim);
  if (log_file && (guardian_victim || loop_victim)) {
    static const char* const kKinds[] = {"before", "torn", "after"};
    fprintf(log_file, "killed %s%s%s %s %s\n", loop_victim ? "loop" : "", loop_victim && guardian_victim ? "," : "",
            guardian_victim ? "guardian" : "", kKinds[kind], where);
  }
  detaching = 1;
  for (int i = 0; i < tracee_count; ++i)
    if (tracees[i].pid != at) ptrace(PTRACE_INTERRUPT, tracees[i].pid, NULL, NULL);
}

static void set_register(pid_t pid, size_t offset, long value) {
  if (ptrace(PTRACE_POKEUSER, pid, (void*)offset, (void*)value) != 0) die(kImpossible, "cannot set a register", "");
}

static void at_entry(struct Tracee* tracee) {
  struct user_regs_struct regs;
  if (ptrace(PTRACE_GETREGS, tracee->pid, NULL, &regs) != 0) return;  // it was killed meanwhile
  char path[kPath] = "";
  const char* name = name_of_point(tracee->pid, &regs, path);
  if (!name) return;
  ++points;
  const char* who = tracee->pid == root ? "guardian" : tracee->pid == find_loop() ? "loop" : "other";
  snprintf(where, sizeof where, "%ld %s %s %s", points, who, name, path);
  if (log_file && count_only) fprintf(log_file, "%s\n", where);
  if ((int)regs.orig_rax == fail_call && is_journal(tracee->pid, regs.rdi, path)) {
    ++calls;
    if (calls == fail_at || (fail_later_too && calls > fail_at)) {
      set_register(tracee->pid, offsetof(struct user_regs_struct, orig_rax), -1);
      tracee->then = kFail;
      if (log_file) fprintf(log_file, "failed %s\n", where);
    }
  }
  if (points != point) return;
  if (kind == kBefore) {
    strike(tracee->pid);
    return;
  }
  if (kind == kTorn) {
    if (regs.orig_rax != SYS_write) die(kUsage, "only a write can be torn, and this is none: ", where);
    set_register(tracee->pid, offsetof(struct user_regs_struct, rdx), (long)(regs.rdx / 2));
  }
  tracee->then = kStrike;
}

static void at_exit_of_call(struct Tracee* tracee) {
  const enum Then then = tracee->then;
  tracee->then = kNothing;
  if (then == kStrike) strike(tracee->pid);
  if (then == kFail) set_register(tracee->pid, offsetof(struct user_regs_struct, rax), -fail_error);
}

static void at_call(struct Tracee* tracee) {
  struct __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->pid, (void*)sizeof info, &info) <= 0) {
    if (errno == ESRCH) return;
    die(kImpossible, "PTRACE_GET_SYSCALL_INFO: ", strerror(errno));
  }
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) at_entry(tracee);
  if (info.op == PTRACE_SYSCALL_INFO_EXIT) at_exit_of_call(tracee);
}

static void detach(pid_t pid, int signal) {
  ptrace(PTRACE_DETACH, pid, NULL, (void*)(long)signal);
  forget(pid);
}

// A tracee has stopped: does what is due there and lets it continue.
static void at_stop(pid_t pid, int status) {
  const int event = status >> 16, signal = WSTOPSIG(status), is_call = signal == (SIGTRAP | 0x80);
  const int to_deliver = event == 0 && !is_call ? signal : 0;
  struct Tracee* tracee = tracee_of(pid);
  if (event == PTRACE_EVENT_EXEC) {
    char now[kPath];
    link_of(pid, "exe", now);
    if (pid == root && !image[0]) strcpy(image, now);
    if (strcmp(now, image) != 0) {
      detach(pid, 0);
      return;
    }
  }
  if (is_call && image[0] && !detaching) at_call(tracee);
  if (detaching) {
    detach(pid, to_deliver);
  } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
    ptrace(PTRACE_LISTEN, pid, NULL, NULL);  // it was stopped by somebody, and stays stopped
  } else {
    ptrace(PTRACE_SYSCALL, pid, NULL, (void*)(long)to_deliver);
  }
}

static void follow_all(void) {
  while (!root_ended || tracee_count > 0) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid < 0) break;
    if (WIFSTOPPED(status)) {
      at_stop(pid, status);
      continue;
    }
    forget(pid);
    if (pid == root) root_status = status, root_ended = 1;
  }
}

// ---- start

static int number_of_error(const char* name) {
  static const struct {
    const char* name;
    int number;
  } kErrors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}, {"EINTR", EINTR}};
  for (size_t i = 0; i < sizeof kErrors / sizeof *kErrors; ++i)
    if (strcmp(kErrors[i].name, name) == 0) return kErrors[i].number;
  return 0;
}

static void read_failure(const char* text) {
  char call[16], error[16], plus = '\0';
  if (sscanf(text, "%15[^:]:%15[^:]:%ld%c", call, error, &fail_at, &plus) < 3) die(kUsage, "what is to fail? ", text);
  fail_call = strcmp(call, "write") == 0       ? SYS_write
              : strcmp(call, "fsync") == 0     ? SYS_fsync
              : strcmp(call, "fdatasync") == 0 ? SYS_fdatasync
                                               : -1;
  fail_error = number_of_error(error);
  fail_later_too = plus == '+';
  if (fail_call < 0 || fail_error == 0 || fail_at < 1) die(kUsage, "what is to fail? ", text);
}

static char** read_arguments(char** argument) {
  while (*++argument && strcmp(*argument, "--") != 0) {
    const char* option = *argument;
    if (strcmp(option, "--count") == 0) {
      count_only = 1;
      continue;
    }
    const char* value = *++argument;
    if (!value) die(kUsage, "a value is missing after ", option);
    if (strcmp(option, "--victim") == 0) {
      victim_loop = strcmp(value, "guardian") != 0;
      victim_guardian = strcmp(value, "loop") != 0;
    } else if (strcmp(option, "--point") == 0) {
      point = atol(value);
    } else if (strcmp(option, "--kind") == 0) {
      kind = strcmp(value, "before") == 0 ? kBefore : strcmp(value, "torn") == 0 ? kTorn : kAfter;
    } else if (strcmp(option, "--fail") == 0) {
      read_failure(value);
    } else if (strcmp(option, "--log") == 0) {
      log_file = fopen(value, "we");
      if (!log_file) die(kUsage, "cannot write ", value);
    } else {
      die(kUsage, "what is ", option);
    }
  }
  if (!*argument || !argument[1]) die(kUsage, "which program?", "");
  if (!count_only && fail_call < 0 && (point < 1 || kind < 0 || !(victim_loop || victim_guardian)))
    die(kUsage, "--victim, --point and --kind belong together", "");
  return argument + 1;
}

static void start(char** program) {
  int go[2];
  if (pipe(go) != 0) die(kImpossible, "pipe: ", strerror(errno));
  root = fork();
  if (root < 0) die(kImpossible, "fork: ", strerror(errno));
  if (root == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(kImpossible);
    close(go[0]);
    execvp(program[0], program);
    perror(program[0]);
    _exit(127);
  }
  close(go[0]);
  const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                       PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SEIZE, root, NULL, (void*)options) != 0) die(kImpossible, "ptrace: ", strerror(errno));
  tracee_of(root);
  // It is blocked until the byte arrives: so the interrupt comes first, and from then on every call is traced.
  ptrace(PTRACE_INTERRUPT, root, NULL, NULL);
  if (write(go[1], "x", 1) != 1) die(kImpossible, "pipe: ", strerror(errno));
  close(go[1]);
}

int main(int argc, char** argv) {
  (void)argc;
  char** program = read_arguments(argv);
  signal(SIGALRM, too_late);
  alarm(kSeconds);
  start(program);
  follow_all();
  if (count_only) fprintf(stderr, "kill_at: %ld points\n", points);
  if (log_file) fclose(log_file);
  return WIFSIGNALED(root_status) ? 128 + WTERMSIG(root_status) : WEXITSTATUS(root_status);
}
#endif
