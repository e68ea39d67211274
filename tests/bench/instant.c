// An agent that answers at once and is never done.
#include <string.h>
#include <unistd.h>

int main(void) {
  static const char kAnswer[] = "<response>no</response>\n";
  return write(1, kAnswer, strlen(kAnswer)) > 0 ? 0 : 1;
}
