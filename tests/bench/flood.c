// An agent that never stops talking: flood BYTES [--line-length N] [anything else, such as a prompt, is ignored].
// Writes exactly BYTES bytes of text lines as fast as the reader takes them.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char kWords[] = "the quick brown fox jumps over the lazy dog and reads one more file of the project ";

// Fills `buffer` with whole lines of `length` characters, including the newline. Returns how many bytes are used.
static size_t fill(char* buffer, size_t size, size_t length) {
  const size_t used = size - size % length;
  for (size_t i = 0; i < used; ++i) {
    const size_t line = i / length, column = i % length;
    buffer[i] = column == length - 1 ? '\n' : kWords[(line * 7 + column) % (sizeof kWords - 1)];
  }
  return used;
}

static int write_all(const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t n = write(1, bytes, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return -1;
    bytes += n;
    count -= (size_t)n;
  }
  return 0;
}

int main(int argc, char** argv) {
  static char buffer[256 * 1024];
  unsigned long long left = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  size_t length = 100;
  if (argc > 3 && strcmp(argv[2], "--line-length") == 0) length = strtoul(argv[3], NULL, 10);
  if (left == 0 || length < 1 || length > sizeof buffer) {
    fprintf(stderr, "usage: flood BYTES [--line-length N], N from 1 to %zu\n", sizeof buffer);
    return 2;
  }
  const size_t used = fill(buffer, sizeof buffer, length);
  while (left > 0) {
    const size_t count = left < used ? (size_t)left : used;
    if (write_all(buffer, count) != 0) return 1;
    left -= count;
  }
  return 0;
}
