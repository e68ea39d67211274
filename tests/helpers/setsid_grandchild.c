// Exits at once and leaves a child behind in its own session, without any open stream.
#include <unistd.h>

int main(void) {
  if (fork() == 0) {
    setsid();
    for (int fd = 0; fd < 64; ++fd) close(fd);
    sleep(120);
    _exit(0);
  }
  return 0;
}
