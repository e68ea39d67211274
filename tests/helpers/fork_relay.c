// A relay of processes: each forks its successor and exits at once, so a snapshot of the process table shows only ended
// ones. Ends by itself after twenty seconds. FILE, if given, holds two numbers: how many processes there were, and
// whether the relay has reached its own end.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const time_t end = time(0) + 20;
  static volatile unsigned nowhere[2];
  volatile unsigned* numbers = nowhere;
  if (argc > 1) {
    const int file = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof nowhere) != 0) return 1;
    numbers = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (numbers == MAP_FAILED) return 1;
  }
  if (fork() != 0) return 0;
  signal(SIGTERM, SIG_IGN);
  setsid();
  for (int fd = 0; fd < 64; ++fd) close(fd);
  while (time(0) < end) {
    ++numbers[0];
    if (fork() > 0) _exit(0);
  }
  numbers[1] = 1;
  return 0;
}
