// A relay of processes: each forks its successor and exits at once, so that a snapshot of the process table sees only
// ended ones. Ends by itself after twenty seconds.
#include <signal.h>
#include <time.h>
#include <unistd.h>

int main(void) {
  const time_t end = time(0) + 20;
  if (fork() != 0) return 0;
  signal(SIGTERM, SIG_IGN);
  setsid();
  for (int fd = 0; fd < 64; ++fd) close(fd);
  while (time(0) < end) {
    if (fork() > 0) _exit(0);
  }
  return 0;
}
