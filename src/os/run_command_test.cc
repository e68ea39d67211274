#include "os/run_command.h"

#include <signal.h>

#include <gtest/gtest.h>

namespace ralph {
namespace {

Launch shell(std::string script) {
  Launch launch;
  launch.argv = {"sh", "-c", std::move(script)};
  launch.environment = Environment::of_this_process();
  launch.folder = "/";
  return launch;
}

TEST(RunCommand, GivesBothStreamsAsOne) {
  const auto end = run_command(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(end->output, "out\nerr\n");
  EXPECT_EQ(end->exit_code, 3);
}

TEST(RunCommand, EndsIfASignalWaitsAndLeavesThatWaiting) {
  sigset_t set, old;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, &old);
  EXPECT_EQ(run_until_signal(shell("exit 3"), Milliseconds(10000))->exit_code, 3);
  ::raise(SIGTERM);
  const auto end = run_until_signal(shell("sleep 600"), Milliseconds(600'000));
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().kind, ErrorKind::kInterrupted);
  int taken = 0;
  ::sigwait(&set, &taken);
  EXPECT_EQ(taken, SIGTERM);
  ::sigprocmask(SIG_SETMASK, &old, nullptr);
}

TEST(AskCommand, KeepsTheStreamsApart) {
  const auto answer = ask_command(shell("echo warning >&2; echo out; echo more >&2; exit 3"), Milliseconds(10000), 100);
  EXPECT_EQ(answer->output, "out\n");
  EXPECT_EQ(answer->errors, "warning\nmore\n");
  EXPECT_EQ(answer->exit_code, 3);
  EXPECT_FALSE(answer->cut);
}

TEST(AskCommand, SaysWhenThereWasMore) {
  EXPECT_FALSE(ask_command(shell("printf 12345"), Milliseconds(10000), 5)->cut);
  const auto answer = ask_command(shell("printf 123456"), Milliseconds(10000), 5);
  EXPECT_EQ(answer->output, "12345");
  EXPECT_TRUE(answer->cut);
}

TEST(AskCommand, ReadsMuchOfBothWithoutBlocking) {
  const auto answer = ask_command(shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; echo end"),
                                  Milliseconds(10000), 10'000'000);
  EXPECT_EQ(answer->output.size(), 1'000'004U);
  EXPECT_EQ(answer->exit_code, 0);
}

TEST(AskCommand, EndsWhatTakesTooLong) {
  EXPECT_EQ(ask_command(shell("sleep 60"), Milliseconds(50), 5)->exit_code, 137);
  EXPECT_EQ(ask_command(shell("exec >&-; sleep 60"), Milliseconds(50), 5)->exit_code, 137) << "one stream is closed";
  EXPECT_EQ(ask_command(shell("exec >&- 2>&-; sleep 60"), Milliseconds(50), 5)->exit_code, 137) << "both are";
}

}  // namespace
}  // namespace ralph
