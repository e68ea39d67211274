// A process whose main thread has exited while another one keeps running: /proc shows it as a zombie. It leaves the
// group and session of the agent, and ends by itself after thirty seconds.
#include <pthread.h>
#include <unistd.h>

static void* work(void* nothing) {
  sleep(30);
  _exit(0);
  return nothing;
}

int main(void) {
  if (fork() != 0) {
    usleep(100000);  // until the other one looks like a zombie
    return 0;
  }
  setsid();
  for (int fd = 0; fd < 64; ++fd) close(fd);
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_exit(0);
}
