// The built-in scripted agent of `ralph demo`. It behaves like a real agent on a bad day: it fixes half, claims to be
// done, and fixes the rest when it sees the guardrail's output.
#include <chrono>
#include <thread>

#include "cli/registry.h"
#include "engine/commit_message.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

constexpr std::string_view kHalf = "#!/bin/sh\n# Prints the sum of its arguments.\necho $(($1 + $2))\n";
constexpr std::string_view kWhole =
    "#!/bin/sh\n# Prints the sum of its arguments.\ntotal=0\nfor number in \"$@\"; do\n  total=$((total + "
    "number))\ndone\n"
    "echo \"$total\"\n";

void say(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(350));  // so that a person can follow along
}

Result<int> work(const Arguments&) {
  TRY_VALUE(const std::string prompt, read_file("/dev/stdin"));
  if (prompt == kCommitMessageRequest) {
    fmt::print("Add up all arguments in sum.sh\n");
    return 0;
  }
  const bool told_of_failure = prompt.find("Guardrail \"sh test.sh\" failed") != std::string::npos;
  if (!told_of_failure) {
    say("I read sum.sh: it prints its first argument only.");
    TRY(write_file_atomically("sum.sh", kHalf));
    say("I changed it to add the first two arguments. That should be all.");
  } else {
    say("The test adds four numbers, and my change added only two.");
    TRY(write_file_atomically("sum.sh", kWhole));
    say("I rewrote sum.sh as a loop over all arguments.");
  }
  fmt::print("<response>DONE</response>\n");
  return 0;
}

}  // namespace

const Command kDemoAgent = {
    "demo-agent",
    "The scripted agent behind 'ralph demo'.",
    "Reads a prompt from standard input and works in the current folder, which must be the demo's.",
    "",
    {},
    {},
    work,
    true,
};

}  // namespace ralph::cli
