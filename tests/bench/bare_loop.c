// The floor of a loop: the processes of a ralph run and its syncs to disk, with nothing around them.
//
//   bare_loop ITERATIONS FSYNCS FDATASYNCS JOURNAL GUARDRAIL AGENT [ARGUMENT...]
//
// Each iteration runs the agent and then `sh -c GUARDRAIL`, reads their output to the end, and waits for them. The sync
// counts are totals, spread evenly over the iterations; before each sync, a line like a journal's is appended to
// JOURNAL.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void check(int ok, const char* what) {
  if (ok) return;
  perror(what);
  exit(1);
}

static void run(char* const argv[]) {
  static char buffer[64 * 1024];
  int ends[2];
  check(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  pid_t pid;
  check(posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) == 0, argv[0]);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  while (read(ends[0], buffer, sizeof buffer) > 0) {
  }
  close(ends[0]);
  int status;
  check(waitpid(pid, &status, 0) == pid, "waitpid");
}

// How many of `total` belong to iteration `i` of `n`.
static long share(long total, long i, long n) {
  return total * (i + 1) / n - total * i / n;
}

static void sync_journal(int journal, long count, int (*sync_file)(int)) {
  static const char kLine[] =
      "{\"v\":1,\"seq\":1234,\"time\":\"2026-01-01T00:00:00.000Z\",\"type\":\"decided\",\"iteration\":100,\"moment\":"
      "\"after_checks\",\"rule\":\"go_on\",\"decision\":\"continue\",\"status\":\"\",\"reason\":\"not done yet\"}\n";
  for (long i = 0; i < count; ++i) {
    check(write(journal, kLine, strlen(kLine)) > 0, "write");
    check(sync_file(journal) == 0, "sync");
  }
}

int main(int argc, char** argv) {
  if (argc < 7) {
    fprintf(stderr, "usage: bare_loop ITERATIONS FSYNCS FDATASYNCS JOURNAL GUARDRAIL AGENT [ARGUMENT...]\n");
    return 2;
  }
  const long iterations = atol(argv[1]), fsyncs = atol(argv[2]), fdatasyncs = atol(argv[3]);
  const int journal = open(argv[4], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  check(journal >= 0, argv[4]);
  char* const guardrail[] = {"sh", "-c", argv[5], NULL};
  for (long i = 0; i < iterations; ++i) {
    run(argv + 6);
    run(guardrail);
    sync_journal(journal, share(fsyncs, i, iterations), fsync);
    sync_journal(journal, share(fdatasyncs, i, iterations), fdatasync);
  }
  return 0;
}
