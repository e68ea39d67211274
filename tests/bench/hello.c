// The floor of starting a program: a static executable that prints one line.
#include <unistd.h>

int main(void) {
  return write(1, "hello\n", 6) == 6 ? 0 : 1;
}
