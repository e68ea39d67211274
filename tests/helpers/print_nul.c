// Prints NUL bytes around and inside ordinary text.
#include <unistd.h>

int main(void) {
  static const char text[] = "\0\0a\0b\0\n\0<resp\0onse>DONE</response>\n\0";
  return write(1, text, sizeof text) == (ssize_t)sizeof text ? 0 : 1;
}
