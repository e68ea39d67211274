// A textbook daemon: fork, setsid, fork, chdir /, no streams. With an argument it also drops its environment (and
// thereby its parent's marks) by executing itself again; the argument stays visible on its command line.
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[2], "sleep") == 0) {
    sleep(120);
    return 0;
  }
  const pid_t first = fork();
  if (first == 0) {
    setsid();
    if (fork() == 0) {
      if (chdir("/") != 0) _exit(1);
      for (int fd = 0; fd < 64; ++fd) close(fd);
      char* again[] = {argv[0], argc > 1 ? argv[1] : "-", "sleep", NULL};
      char* nothing[] = {NULL};
      if (argc > 1) execve("/proc/self/exe", again, nothing);
      sleep(120);
    }
    _exit(0);
  }
  waitpid(first, NULL, 0);
  return 0;
}
