// Installed set-user-id by a test: becomes root completely, as sudo does, so its user can no longer signal it.
#include <sys/types.h>
#include <unistd.h>

int main(void) {
  if (setgid(0) != 0 || setuid(0) != 0) return 1;
  sleep(100);
  return 0;
}
