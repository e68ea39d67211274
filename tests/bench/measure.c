// Times one command from spawn to exit: measure REPORT COMMAND [ARGUMENT...]
//
// Writes "NANOSECONDS CPU_NANOSECONDS PEAK_KILOBYTES STATUS" to REPORT. This is a small separate program because a
// child of Python would inherit Python's peak memory, and would be timed through Python. The processor time covers the
// command and the processes it waited for; the peak is that of the largest among them. STATUS is the exit code, or 128
// plus the signal.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static long long nanoseconds(struct timeval time) {
  return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: measure REPORT COMMAND [ARGUMENT...]\n");
    return 2;
  }
  struct timespec from, to;
  struct rusage usage;
  pid_t pid;
  int status;
  clock_gettime(CLOCK_MONOTONIC, &from);
  if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) != 0 || wait4(pid, &status, 0, &usage) != pid) {
    perror(argv[2]);
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  const long long spent = (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec);
  const long long busy = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  FILE* report = fopen(argv[1], "w");
  if (report == NULL || fprintf(report, "%lld %lld %ld %d\n", spent, busy, usage.ru_maxrss, code) < 0 ||
      fclose(report) != 0) {
    perror(argv[1]);
    return 1;
  }
  return 0;
}
