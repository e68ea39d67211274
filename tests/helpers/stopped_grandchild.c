// Leaves a stopped child behind: a SIGTERM stays pending forever; only SIGKILL ends it.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    setsid();
    raise(SIGSTOP);
    _exit(0);
  }
  int status;
  waitpid(child, &status, WUNTRACED);
  return 0;
}
