// Leaves a child behind that has its own session and ignores every signal that can be ignored; exits once the child is
// ready.
#include <signal.h>
#include <unistd.h>

int main(void) {
  int ready[2];
  if (pipe(ready) != 0) return 1;
  if (fork() == 0) {
    setsid();
    for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);
    for (int fd = 0; fd < 64; ++fd) close(fd);
    for (int i = 0; i < 1200; ++i) usleep(100000);
    _exit(0);
  }
  close(ready[1]);
  char byte;
  return read(ready[0], &byte, 1) == 0 ? 0 : 1;
}
