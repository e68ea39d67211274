// Prints the given number of megabytes of 'x' without a single newline.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static char block[1 << 16];
  memset(block, 'x', sizeof block);
  for (long i = (argc > 1 ? atol(argv[1]) : 100) * 16; i > 0; --i) {
    for (size_t done = 0; done < sizeof block;) {
      const ssize_t n = write(1, block + done, sizeof block - done);
      if (n <= 0) return 1;
      done += (size_t)n;
    }
  }
  return 0;
}
