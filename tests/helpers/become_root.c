// Installed set-user-id by a test: becomes root altogether, as sudo does, so that its user can't signal it any more.
#include <sys/types.h>
#include <unistd.h>

int main(void) {
  if (setgid(0) != 0 || setuid(0) != 0) return 1;
  sleep(100);
  return 0;
}
