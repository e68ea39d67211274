// Prints lines until it is killed or nobody listens.
#include <string.h>
#include <unistd.h>

int main(void) {
  static char block[1 << 16];
  memset(block, 'y', sizeof block);
  for (size_t i = 79; i < sizeof block; i += 80) block[i] = '\n';
  while (write(1, block, sizeof block) > 0) {
  }
  return 0;
}
