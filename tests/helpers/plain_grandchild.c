// Exits at once and leaves a sleeping child behind, which keeps standard output open.
#include <unistd.h>

int main(void) {
  if (fork() == 0) {
    sleep(120);
    _exit(0);
  }
  return 0;
}
