// Says it is done, closes both streams, keeps running for a while, creates a file (its argument) as proof, and exits.
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  static const char text[] = "<response>DONE</response>\n";
  if (write(1, text, strlen(text)) < 0) return 1;
  for (int fd = 0; fd < 64; ++fd) close(fd);
  usleep(400000);
  return argc > 1 && open(argv[1], O_CREAT | O_WRONLY, 0600) >= 0 ? 0 : 1;
}
