// Ignores every signal that can be ignored, says so, and stays for two minutes.
#include <signal.h>
#include <unistd.h>

int main(void) {
  for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);
  if (write(1, "ready\n", 6) != 6) return 1;
  for (int i = 0; i < 1200; ++i) usleep(100000);
  return 0;
}
