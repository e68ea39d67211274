// ralph: arguments -> command -> exit code.
#include <string>
#include <vector>

#include "cli/dispatch.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return ralph::cli::dispatch(words);
}
