// Programs that are started as a language server but are not one. The test controls the time, so nothing really waits.
#include "checks/lsp/server.h"

#include <sys/wait.h>

#include <gtest/gtest.h>

#include "os/clock.h"
#include "os/poll.h"

namespace ralph::lsp {
namespace {

// Starts a shell instead of clangd, reads its first output, and lets this much time pass.
std::string reason_after(const std::string& script, Milliseconds time, bool stderr_fd) {
  const SystemClock clock;
  const MonotonicTime began = clock.monotonic();
  Server server({server_named("clangd"), {"/bin/sh", "-c", script}}, "/", Environment::of_this_process());
  server.start(began);
  EXPECT_TRUE(server.is_running()) << server.reason();
  if (wait_readable(server.stdout_fd(), began + Milliseconds(20'000))) server.read(began);
  if (stderr_fd && server.stderr_fd() >= 0 && wait_readable(server.stderr_fd(), began + Milliseconds(20'000)))
    server.read_stderr();
  server.enforce_deadline(began + time);
  std::string reason = server.reason();
  if (server.is_running()) server.kill("the test is over");
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  return reason;
}

TEST(Server, ALineThatIsNoHeaderEndsItAtOnce) {
  EXPECT_EQ(reason_after("echo Loading the project; exec sleep 100", Milliseconds(0), false),
            "clangd sent a header without a colon: \"Loading the project\"");
}

TEST(Server, OneThatDoesNotAnswerHasItsTimeAndThenSaysWhatItPrinted) {
  const std::string script = "printf Loading...; echo 'cannot open the database' >&2; exec sleep 100";
  EXPECT_EQ(reason_after(script, kStartLimit - Milliseconds(1), true), "");
  EXPECT_EQ(
      reason_after(script, kStartLimit, true),
      "clangd did not answer initialize within 30.0s; it printed \"Loading...\"; its last words were: cannot open the "
      "database");
}

TEST(Server, TheLineWithTheErrorIsShownNotTheBacktrace) {
  EXPECT_EQ(
      reason_after("printf x; printf 'note: x\\nerror: no such component\\n\\nStack backtrace:\\n  0: the_error\\n' "
                   ">&2; exec sleep 100",
                   kStartLimit, true),
      "clangd did not answer initialize within 30.0s; it printed \"x\"; its last words were: error: no such component");
}

}  // namespace
}  // namespace ralph::lsp
