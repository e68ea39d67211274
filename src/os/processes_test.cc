// Process containment, tested with real processes and signals.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/clock.h"
#include "os/control_group.h"
#include "os/freeze.h"
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
  EXPECT_EQ(run(launch).out, "one two 6\n");  // includes the one that ls opens
}

TEST_F(ProcessesTest, ADeafChildBeginsWithSignalsBlockedAndAnUnknownGroupEndsIt) {
  Launch launch = shell("kill -TERM $$; echo still there");
  launch.blocks_signals = true;
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

TEST_F(ProcessesTest, ReportsTheSignalThatEndedAProcess) {
  const Ran ran = run(shell("kill -SEGV $$"));
  EXPECT_EQ(ran.status->signal, SIGSEGV);
  EXPECT_EQ(ran.status->code, 128 + SIGSEGV);
}

TEST_F(ProcessesTest, DistinguishesMissingProgramsFromOnesThatMayNotRun) {
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

// A relay at a fixed pace: for each byte in `step` one process forks its successor and exits; the successor writes its
// pid to `pids`. Ends when the pipe is closed.
struct SteppedRelay {
  SteppedRelay() {
    EXPECT_EQ(::pipe(step), 0);
    EXPECT_EQ(::pipe(pids), 0);
    if (::fork() != 0) return;
    ::close(step[1]);
    ::setsid();
    for (;;) {
      const pid_t self = ::getpid();
      char byte = 0;
      if (::write(pids[1], &self, sizeof self) != sizeof self || ::read(step[0], &byte, 1) != 1) ::_exit(0);
      if (::fork() > 0) ::_exit(0);
    }
  }
  pid_t next_pid() const {
    pid_t pid = 0;
    EXPECT_EQ(::read(pids[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    return pid;
  }
  // Also waits for the end of `last`, so that the successor is our child.
  pid_t move_on(pid_t last) const {
    EXPECT_EQ(::write(step[1], "x", 1), 1);
    const pid_t next = next_pid();
    siginfo_t ended{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(last), &ended, WEXITED | WNOWAIT), 0);
    return next;
  }
  int step[2], pids[2];
};

// Everything these tests start is below a separate process, which is a subreaper.
int in_a_process(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(60);
    become_subreaper();
    ::_exit(body() && !::testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

TEST(Freeze, StopsProcessesForkedAfterTheListWasMade) {
  EXPECT_EQ(in_a_process([] {
              const SteppedRelay relay;
              const pid_t first = relay.next_pid();
              const std::vector<int> seen = child_pids();
              EXPECT_EQ(seen, std::vector<int>{first});
              const pid_t third = relay.move_on(relay.move_on(first));
              stop_with_groups(seen);
              siginfo_t stopped{};
              // If it was not stopped, this blocks until the alarm.
              EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(third), &stopped, WSTOPPED | WEXITED), 0);
              EXPECT_EQ(stopped.si_code, CLD_STOPPED);
              end_all_descendants({{SIGKILL, 20'000ms}});
              return !has_children();
            }),
            0);
}

TEST(Freeze, LeavesItsOwnSessionAndBystandersAlone) {
  EXPECT_EQ(in_a_process([] {
              ::setsid();
              const pid_t bystander = ::fork();
              if (bystander == 0) {
                ::setsid();
                for (;;) ::pause();
              }
              while (::getpgid(bystander) != bystander) ::usleep(1000);
              const Bystanders bystanders = Bystanders::of_this_process(false);
              const pid_t child = ::fork();  // in the group of this process, which must not be stopped
              if (child == 0) {
                for (;;) ::pause();
              }
              freeze_descendants(0, bystanders);
              siginfo_t stopped{};
              EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &stopped, WSTOPPED), 0);
              EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(bystander), &stopped, WSTOPPED | WNOHANG), 0);
              EXPECT_EQ(read_process(bystander)->state, 'S');
              const SweepReport swept = end_all_descendants({{SIGKILL, 20'000ms}}, bystanders);
              EXPECT_EQ(swept.ended.size(), 1u);
              ::kill(bystander, SIGKILL);
              return true;
            }),
            0);
}

TEST(Freeze, LeavesTheExitCodeOfAnAwaitedChild) {
  EXPECT_EQ(in_a_process([] {
              const pid_t awaited = ::fork();
              if (awaited == 0) ::_exit(7);
              const pid_t other = ::fork();
              if (other == 0) ::_exit(8);
              siginfo_t ended{};
              EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(awaited), &ended, WEXITED | WNOWAIT), 0);
              EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(other), &ended, WEXITED | WNOWAIT), 0);
              freeze_descendants(awaited);
              int status = 0;
              EXPECT_EQ(::waitpid(other, &status, 0), -1);  // reaped
              return ::waitpid(awaited, &status, 0) == awaited && WEXITSTATUS(status) == 7;
            }),
            0);
}

// Forks its successor and exits, again and again: a process in a snapshot is gone before it can be signalled.
void start_relay() {
  if (::fork() != 0) return;
  ::setsid();
  const time_t end = ::time(nullptr) + 60;
  while (::time(nullptr) < end) {
    if (::fork() > 0) ::_exit(0);
  }
  ::_exit(0);
}

// Whether nothing is left after one call of `kill`, in a separate process that is a subreaper.
bool ends_relays(const std::function<void()>& start, const std::function<void()>& kill) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    become_subreaper();
    start();
    ::usleep(100'000);
    kill();
    // Nothing is signalled any more: anything still left was missed.
    for (int look = 0; look < 100 && has_children(); ++look) {
      reap_children();
      ::usleep(20'000);
    }
    const bool left = has_children();
    while (has_children()) end_all_descendants({{SIGKILL, 3000ms}});
    ::_exit(left ? 1 : 0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Freeze, LetsASweepEndWhatForksAndExitsInTurn) {
  EXPECT_TRUE(ends_relays(
      [] {
        for (int i = 0; i < 8; ++i) start_relay();
      },
      [] { end_all_descendants({{SIGKILL, 20'000ms}}); }));
}

TEST(KillGroup, EndsAtOnceWhatForksAndExitsInTurn) {
  const KillGroup group;
  if (!group.exists()) GTEST_SKIP() << "no control group can be created here";
  EXPECT_TRUE(ends_relays(
      [&] {
        const pid_t pid = ::fork();
        if (pid == 0) {
          if (!write_control(group.entry(), "0")) ::_exit(1);
          for (int i = 0; i < 4; ++i) start_relay();
          ::_exit(0);
        }
      },
      [&] { kill_group(group.folder()); }));
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
