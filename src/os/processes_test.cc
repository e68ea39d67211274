// Process containment, tested with real processes and signals.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/clock.h"
#include "os/guardian.h"
#include "os/processes_linux.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

struct Ran {
  std::string out, err;
  std::optional<ExitStatus> status;
  SweepReport swept;
};

Launch shell(const std::string& script) {
  Launch launch;
  launch.argv = {"/bin/sh", "-c", script};
  launch.environment = Environment::of_this_process();
  launch.folder = "/";
  return launch;
}

class ProcessesTest : public ::testing::Test {
 protected:
  Ran finish() {
    Ran ran;
    for (;;) {
      const Event event = processes_.next(clock_.monotonic() + 20s);
      if (std::holds_alternative<DeadlinePassed>(event)) {
        ADD_FAILURE() << "nothing happened for 20 s";
        processes_.end({{SIGKILL, 2000ms}});
      }
      if (const auto* output = std::get_if<Output>(&event)) {
        (output->stream == StreamName::kOut ? ran.out : ran.err) += output->bytes;
      }
      if (const auto* exited = std::get_if<Exited>(&event)) ran.status = exited->status;
      if (const auto* finished = std::get_if<Finished>(&event)) {
        ran.swept = finished->swept;
        return ran;
      }
    }
  }

  Ran run(const Launch& launch) {
    const Status started = processes_.start(launch);
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    return started ? finish() : Ran{};
  }

  SystemClock clock_;
  LinuxProcesses processes_{clock_};
};

TEST_F(ProcessesTest, FilesOfALaunchAreDescriptorsFromThreeOn) {
  Launch launch = shell("cat <&3; cat <&4; ls /proc/self/fd | wc -l");
  launch.files = {"one ", "two "};
  EXPECT_EQ(run(launch).out, "one two 6\n");  // with the one that ls has open
}

TEST_F(ProcessesTest, ADeafChildBeginsWithSignalsBlockedAndAnUnknownGroupEndsIt) {
  Launch launch = shell("kill -TERM $$; echo still there");
  launch.deaf = true;
  EXPECT_EQ(run(launch).out, "still there\n");
  launch.groups = {"/nowhere/cgroup.procs"};
  EXPECT_FALSE(processes_.start(launch));
}

TEST_F(ProcessesTest, ReadsBothStreamsAndTheExitCode) {
  const Ran ran = run(shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "err\n");
  EXPECT_EQ(ran.status->code, 3);
  EXPECT_TRUE(ran.swept.ended.empty());
}

TEST_F(ProcessesTest, MergesStreamsInOrder) {
  Launch launch = shell("echo 1; echo 2 >&2; echo 3");
  launch.merge_streams = true;
  EXPECT_EQ(run(launch).out, "1\n2\n3\n");
}

TEST_F(ProcessesTest, GivesInputOfAnySizeWithoutBlocking) {
  Launch launch = shell("wc -c");
  launch.input.assign(3'000'000, 'x');
  EXPECT_EQ(run(launch).out, "3000000\n");
  launch = shell("exit 0");  // never reads
  launch.input.assign(3'000'000, 'x');
  EXPECT_EQ(run(launch).status->code, 0);
}

TEST_F(ProcessesTest, TellsTheSignalThatEndedAProcess) {
  const Ran ran = run(shell("kill -SEGV $$"));
  EXPECT_EQ(ran.status->signal, SIGSEGV);
  EXPECT_EQ(ran.status->code, 128 + SIGSEGV);
}

TEST_F(ProcessesTest, TellsMissingProgramsFromOnesThatMayNotRun) {
  Launch launch = shell("");
  launch.argv = {"/no/such/program"};
  EXPECT_EQ(processes_.start(launch).error().kind, ErrorKind::kNotFound);
  launch.argv = {"/etc/passwd"};
  EXPECT_NE(processes_.start(launch).error().message.find("not executable"), std::string::npos);
}

TEST_F(ProcessesTest, GivesTheChildNothingButItsThreeDescriptors) {
  const Ran ran = run(shell("ls /proc/self/fd | wc -l"));
  EXPECT_EQ(ran.out, "4\n");  // 0, 1, 2 and the folder that ls reads
}

TEST_F(ProcessesTest, EndsABackgroundProcessThatHoldsThePipe) {
  const Ran ran = run(shell("sleep 1000 & echo started"));
  EXPECT_EQ(ran.out, "started\n");
  ASSERT_EQ(ran.swept.ended.size(), 1U);
  EXPECT_EQ(ran.swept.ended[0].command, "sleep 1000");
  EXPECT_FALSE(has_children());
}

TEST_F(ProcessesTest, EndsADoubleForkedProcessInItsOwnSession) {
  const Ran ran = run(shell("(setsid sh -c 'sleep 1000 & sleep 1001' >/dev/null 2>&1 &) ; echo started; sleep 0.1"));
  EXPECT_GE(ran.swept.ended.size(), 2U);
  EXPECT_FALSE(has_children());
}

TEST_F(ProcessesTest, EndsProcessesThatIgnoreSigterm) {
  ASSERT_TRUE(processes_.start(shell("trap '' TERM; echo ready; while :; do sleep 1000; done")));
  while (!std::holds_alternative<Output>(processes_.next(std::nullopt))) {
  }
  processes_.end({{SIGTERM, 200ms}, {SIGKILL, 3000ms}});
  const Ran ran = finish();
  EXPECT_EQ(ran.status->signal, SIGKILL);
  EXPECT_FALSE(has_children());
}

TEST_F(ProcessesTest, EndsManyProcessesThatKeepForking) {
  const Ran ran =
      run(shell("for i in $(seq 50); do setsid sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' >/dev/null 2>&1 & "
                "done; echo started"));
  EXPECT_EQ(ran.out, "started\n");
  EXPECT_TRUE(ran.swept.survivors.empty());
  EXPECT_FALSE(has_children());
}

TEST_F(ProcessesTest, WaitsForAProcessThatClosedItsOutput) {
  const Ran ran = run(shell("exec >/dev/null 2>&1; sleep 0.3; exit 7"));
  EXPECT_EQ(ran.status->code, 7);
}

TEST_F(ProcessesTest, CollectsOrphansThatEndWhileTheChildStillRuns) {
  const Ran ran = run(shell("for i in 1 2 3 4 5; do (sleep 0.01 &) ; done; sleep 0.3; grep -c . /dev/null; exit 0"));
  EXPECT_EQ(ran.status->code, 0);
  EXPECT_TRUE(ran.swept.ended.empty());
}

TEST_F(ProcessesTest, PassesADeadlineAlthoughOutputNeverStops) {
  ASSERT_TRUE(processes_.start(shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done")));
  const MonotonicTime deadline = clock_.monotonic() + 200ms;
  while (!std::holds_alternative<DeadlinePassed>(processes_.next(deadline))) {
  }
  processes_.end({{SIGKILL, 3000ms}});
  EXPECT_EQ(finish().status->signal, SIGKILL);
}

TEST_F(ProcessesTest, ReportsSignalsAsEvents) {
  ::kill(::getpid(), SIGTERM);
  const Event event = processes_.next(clock_.monotonic() + 5s);
  ASSERT_TRUE(std::holds_alternative<SignalArrived>(event));
  EXPECT_EQ(std::get<SignalArrived>(event).signal, SIGTERM);
}

TEST_F(ProcessesTest, ReportsAFileThatIsWrittenOrRenamedTo) {
  char folder[] = "/tmp/ralph-watch-XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  const std::string wanted = join_path(folder, "DONE");
  ASSERT_TRUE(processes_.watch_file(wanted));
  ASSERT_TRUE(write_file_atomically(join_path(folder, "other"), "x"));
  ASSERT_TRUE(write_file_atomically(wanted, "x"));
  const Event event = processes_.next(clock_.monotonic() + 5s);
  ASSERT_TRUE(std::holds_alternative<FileChanged>(event));
  EXPECT_EQ(std::get<FileChanged>(event).path, wanted);
}

TEST_F(ProcessesTest, AQuietChildCostsNoWakeUps) {
  ASSERT_TRUE(processes_.start(shell("sleep 0.5")));
  rusage before{}, after{};
  ::getrusage(RUSAGE_SELF, &before);
  while (!std::holds_alternative<Exited>(processes_.next(std::nullopt))) {
  }
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 3);
  finish();
}

TEST(Guardian, PassesTheExitCodeOn) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(*run_guarded([](int) { return 7; }));
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace ralph
