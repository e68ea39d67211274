// Times commands from spawn to exit:
//
//   measure REPORT COMMAND [ARGUMENT...]    once; the result goes to the file REPORT
//   measure --host                          for each line on standard input, FILE\x1fCOMMAND[\x1fARGUMENT...]: the
//   command
//                                           gets FILE as its standard input, and the result goes to standard output
//
// A result is a line "NANOSECONDS CPU_NANOSECONDS PEAK_KILOBYTES STATUS". This is a small separate program because a
// child of Python would inherit Python's peak memory, and would be timed through Python. The processor time covers the
// command and the processes it waited for; the peak is that of the largest among them. STATUS is the exit code, or 128
// plus the signal. With --host all commands have the same parent, as the hooks of a session have.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static long long nanoseconds(struct timeval time) {
  return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

// Returns 0 if the result was written.
static int measure(char** argv, const posix_spawn_file_actions_t* actions, FILE* report) {
  struct timespec from, to;
  struct rusage usage;
  pid_t pid;
  int status;
  clock_gettime(CLOCK_MONOTONIC, &from);
  if (posix_spawnp(&pid, argv[0], actions, NULL, argv, environ) != 0 || wait4(pid, &status, 0, &usage) != pid) {
    perror(argv[0]);
    return 1;
  }
  clock_gettime(CLOCK_MONOTONIC, &to);
  const long long spent = (to.tv_sec - from.tv_sec) * 1000000000LL + (to.tv_nsec - from.tv_nsec);
  const long long busy = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return fprintf(report, "%lld %lld %ld %d\n", spent, busy, usage.ru_maxrss, code) < 0 || fflush(report) != 0;
}

static int serve(void) {
  static char line[64 * 1024];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char* words[64];
    int count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char* word = strtok(line, "\x1f"); word != NULL && count < 63; word = strtok(NULL, "\x1f"))
      words[count++] = word;
    words[count] = NULL;
    if (count < 2) return 2;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, words[0], O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const int failed = measure(words + 1, &actions, stdout);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--host") == 0) return serve();
  if (argc < 3) {
    fprintf(stderr, "usage: measure REPORT COMMAND [ARGUMENT...]\n       measure --host\n");
    return 2;
  }
  FILE* report = fopen(argv[1], "w");
  if (report == NULL) {
    perror(argv[1]);
    return 1;
  }
  return measure(argv + 2, NULL, report) || fclose(report) != 0;
}
