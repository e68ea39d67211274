// Four chains of processes: each forks its successor into a new session and exits, so no two snapshots of the process
// table show the same one. They end by themselves after twenty seconds.
#include <time.h>
#include <unistd.h>

int main(void) {
  const time_t end = time(NULL) + 20;
  for (int chain = 0; chain < 4; ++chain) {
    if (fork() != 0) continue;
    for (int fd = 0; fd < 64; ++fd) close(fd);
    while (time(NULL) < end) {
      setsid();
      usleep(1000);
      if (fork() > 0) _exit(0);
    }
    _exit(0);
  }
  return 0;
}
