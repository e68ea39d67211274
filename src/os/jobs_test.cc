// Jobs, tested with a real guardian, a real loop and real processes. The loop is another process: it and its jobs write
// lines, which the test reads.
#include "os/jobs.h"

#include <csignal>
#include <fcntl.h>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/packets.h"
#include "os/poll.h"
#include "os/processes_linux.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

Launch shell_launch(const std::string& script) {
  Launch launch;
  launch.argv = {"/bin/sh", "-c", script};
  launch.environment = Environment::of_this_process();
  launch.folder = "/";
  return launch;
}

// The state of the loop's process.
struct Loop {
  Loop(int guardian, int to_test) : processes(clock, guardian), jobs(guardian), out(to_test) {
    processes.watch_jobs(jobs);
  }

  void say(const std::string& line) const { static_cast<void>(write_all(out, line + "\n", "the test")); }

  JobRequest request(const std::string& script) const {
    JobRequest request;
    request.name = "test";
    request.launch = shell_launch(script);
    request.out.fd = request.err.fd = out;
    return request;
  }

  std::optional<JobId> start(const JobRequest& request) {
    const Result<JobId> job = jobs.start(request);
    if (!job) say("error: " + job.error().message);
    return job ? std::optional(*job) : std::nullopt;
  }
  std::optional<JobId> start(const std::string& script) { return start(request(script)); }

  // Starts a job and waits until its script has called `ready`. `await` waits for a file that a descendant creates in
  // $MARKS.
  std::optional<JobId> start_ready(const std::string& script, const StopSequence& stop = stop_gently()) {
    const ScratchFolder folder;
    // Hides the shell's messages about children that were killed.
    JobRequest asked = request(
        "exec 2> /dev/null; ready() { : > $MARKS/ready; }; await() { until [ -e $MARKS/$1 ]; do sleep 0.01; done; }; " +
        script);
    asked.launch.environment.set("MARKS", folder.path());
    asked.stop = stop;
    const auto job = start(asked);
    for (int tries = 0; tries < 1000 && !file_exists(folder / "ready"); ++tries) ::usleep(10'000);
    return job;
  }

  // Waits for an event of this kind.
  template <class Kind>
  std::optional<Kind> next() {
    const MonotonicTime deadline = clock.monotonic() + 20s;
    for (;;) {
      const Event event = processes.next(deadline);
      if (const auto* wanted = std::get_if<Kind>(&event)) return *wanted;
      if (std::holds_alternative<DeadlinePassed>(event)) return std::nullopt;
    }
  }

  void say_end(const std::optional<JobEnded>& ended) const {
    say(ended ? fmt::format("code {} signal {}", ended->status.code, ended->status.signal) : "no end");
  }
  void end(JobId job) {
    const auto ended = jobs.end(job);
    ended ? say_end(*ended) : say("error: " + ended.error().message);
  }

  SystemClock clock;
  LinuxProcesses processes;
  Jobs jobs;
  int out;
};

class JobsTest : public ::testing::Test {
 protected:
  void SetUp() override { become_subreaper(); }
  void TearDown() override { EXPECT_TRUE(nothing_is_left()); }

  // Starts a guardian whose loop runs `body`.
  void run(const std::function<void(Loop&)>& body) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    from_loop_ = Fd(ends[0]);
    Fd to_test(ends[1]);
    guardian_ = ::fork();
    if (guardian_ != 0) return;
    ::setpgid(0, 0);
    const auto code = run_guarded([&](int channel) {
      Loop loop(channel, to_test.get());
      body(loop);
      ::_exit(7);
      return 7;
    });
    ::_exit(code ? *code : 99);
  }

  // The next line from the loop or a job; "" after the last one.
  std::string line() {
    for (;;) {
      if (const size_t end = said_.find('\n'); end != std::string::npos) {
        const std::string line = said_.substr(0, end);
        said_.erase(0, end + 1);
        return line;
      }
      char bytes[4096];
      if (!wait_readable(from_loop_.get(), clock_.monotonic() + 20s)) return "nothing was said for 20 s";
      const ssize_t n = ::read(from_loop_.get(), bytes, sizeof bytes);
      if (n <= 0) return "";
      said_.append(bytes, static_cast<size_t>(n));
    }
  }
  int number() { return static_cast<int>(parse_count(line()).value_or(0)); }

  // The exit code of the guardian, or its negated signal.
  int wait_for_guardian() {
    int status = 0;
    for (int tries = 0; tries < 2000; ++tries, ::usleep(10'000)) {
      if (::waitpid(guardian_, &status, WNOHANG) == guardian_)
        return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }
    return -999;
  }

  // This process is a subreaper: whatever a guardian left behind becomes its child.
  static bool nothing_is_left() {
    for (int tries = 0; tries < 800; ++tries, ::usleep(10'000)) {
      reap_children();
      if (!has_children()) return true;
    }
    end_all_descendants({{SIGKILL, 3000ms}});
    return false;
  }

  static bool is_alive(int pid) { return start_time_of(pid) != 0; }
  static bool soon_dead(int pid) {
    for (int tries = 0; tries < 1000 && is_alive(pid); ++tries) ::usleep(10'000);
    return !is_alive(pid);
  }

  SystemClock clock_;
  pid_t guardian_ = 0;
  Fd from_loop_;
  std::string said_;
};

TEST_F(JobsTest, ReportTheirExitCodesAndSignalsAsEvents) {
  run([](Loop& loop) {
    for (const char* script : {"exit 3", "kill -SEGV $$"}) {
      const auto job = loop.start(script);
      const auto ended = loop.next<JobEnded>();
      loop.say_end(ended);
      const auto state = loop.jobs.state(*job);
      loop.say(fmt::format("{} {}", ended->job == *job, state && *state ? (*state)->code : -1));
    }
  });
  EXPECT_EQ(line(), "code 3 signal 0");
  EXPECT_EQ(line(), "true 3");
  EXPECT_EQ(line(), "code 139 signal 11");
  EXPECT_EQ(line(), "true 139");
  EXPECT_EQ(wait_for_guardian(), 7);
}

TEST_F(JobsTest, EndOnceEvenIfAnotherProcessStillHasTheirSockets) {
  run([](Loop& loop) {
    const auto job = loop.start_ready("ready; sleep 1000");
    const pid_t copy = ::fork();  // like a child that has not called exec yet
    if (copy == 0) {
      ::pause();
      ::_exit(0);
    }
    loop.end(*job);
    loop.say(fmt::format("{} more", loop.jobs.take_ended().size()));
    loop.say(wait_readable(loop.jobs.descriptor(), {}) ? "goes on about it" : "silent");
    ::kill(copy, SIGKILL);
    ::waitpid(copy, nullptr, 0);
  });
  EXPECT_EQ(line(), "code 143 signal 15");
  EXPECT_EQ(line(), "0 more");
  EXPECT_EQ(line(), "silent");
}

TEST_F(JobsTest, SurviveTheSweepAfterATurn) {
  run([](Loop& loop) {
    const auto job = loop.start_ready("ready; sleep 1000");
    static_cast<void>(loop.processes.start(shell_launch("setsid sleep 1001 & exit 0")));
    loop.say(fmt::format("swept {}", loop.next<Finished>()->swept.ended.size()));
    loop.say(*loop.jobs.state(*job) ? "ended" : "running");
    loop.end(*job);
    loop.say(*loop.jobs.state(*job) ? "ended" : "running");
  });
  EXPECT_EQ(line(), "swept 1");
  EXPECT_EQ(line(), "running");
  EXPECT_EQ(line(), "code 143 signal 15");
  EXPECT_EQ(line(), "ended");
}

TEST_F(JobsTest, AreEndedByTheirOwnStopSequence) {
  run([](Loop& loop) {
    const auto job = loop.start_ready("trap 'exit 5' USR1; ready; while :; do sleep 0.02; done",
                                      {{SIGUSR1, 10000ms}, {SIGKILL, 3000ms}});
    loop.end(*job);
    const auto other = loop.start_ready("trap 'exit 6' USR2; ready; while :; do sleep 0.02; done",
                                        {{SIGUSR2, 10000ms}, {SIGKILL, 3000ms}});
    if (loop.jobs.request_end(*other)) loop.say_end(loop.next<JobEnded>());
  });
  EXPECT_EQ(line(), "code 5 signal 0");
  EXPECT_EQ(line(), "code 6 signal 0");
}

TEST_F(JobsTest, AreKilledAfterTheGraceIfTheyIgnoreSigterm) {
  run([](Loop& loop) {
    const auto job =
        loop.start_ready("trap '' TERM; ready; while :; do sleep 1000; done", {{SIGTERM, 300ms}, {SIGKILL, 5000ms}});
    const MonotonicTime began = loop.clock.monotonic();
    loop.end(*job);
    loop.say(loop.clock.monotonic() - began >= 300ms ? "after the grace" : "too early");
  });
  EXPECT_EQ(line(), "code 137 signal 9");
  EXPECT_EQ(line(), "after the grace");
}

TEST_F(JobsTest, AreEndedWithAllThatTheyStartedAndNothingOfAnother) {
  run([](Loop& loop) {
    const std::string family =
        "(setsid sh -c 'echo $$; : > $MARKS/1; exec sleep 1000' &); await 1;"
        "(sh -c 'echo $$; : > $MARKS/2; exec sleep 1001' &); await 2; ready; sleep 1002";
    const auto one = loop.start_ready(family), other = loop.start_ready(family);
    loop.end(*one);
    loop.end(*other);
  });
  const int one = number(), also_one = number(), other = number(), also_other = number();
  EXPECT_EQ(line(), "code 143 signal 15");
  EXPECT_FALSE(is_alive(one) || is_alive(also_one));
  EXPECT_EQ(line(), "code 143 signal 15");
  EXPECT_FALSE(is_alive(other) || is_alive(also_other));
}

TEST_F(JobsTest, EndingOneLeavesTheOthersAlone) {
  run([](Loop& loop) {
    const std::string family = "(setsid sh -c 'echo $$; : > $MARKS/1; exec sleep 1000' &); await 1; ready; sleep 1002";
    const auto one = loop.start_ready(family);
    loop.start_ready(family);
    loop.end(*one);
    loop.next<SignalArrived>();
  });
  const int one = number(), other = number();
  EXPECT_EQ(line(), "code 143 signal 15");
  EXPECT_FALSE(is_alive(one));
  EXPECT_TRUE(is_alive(other));
  ::kill(guardian_, SIGTERM);
  EXPECT_EQ(wait_for_guardian(), 7);
  EXPECT_FALSE(is_alive(other));
}

TEST_F(JobsTest, TakeWhatTheyLeaveBehindWithThem) {
  run([](Loop& loop) {
    loop.start("setsid sleep 1000 & exit 4");
    const auto ended = loop.next<JobEnded>();
    loop.say_end(ended);
    loop.say(fmt::format("{} {}", ended->swept.ended.size(), ended->swept.ended.at(0).command));
  });
  EXPECT_EQ(line(), "code 4 signal 0");
  EXPECT_EQ(line(), "1 sleep 1000");
}

constexpr const char* kTellsSignals =
    "trap 'echo usr1; exit' USR1; trap 'echo term; exit' TERM; trap 'echo int' INT; ready; while :; do sleep 0.02; "
    "done";

TEST_F(JobsTest, EndByTheirOwnSequencesWhenTheLoopEnds) {
  run([](Loop& loop) { loop.start_ready(kTellsSignals, {{SIGUSR1, 10000ms}, {SIGKILL, 3000ms}}); });
  EXPECT_EQ(line(), "usr1");
  EXPECT_EQ(line(), "");
  EXPECT_EQ(wait_for_guardian(), 7);
  EXPECT_FALSE(has_children());
}

TEST_F(JobsTest, EndSoonWhenTheLoopIsKilled) {
  run([](Loop& loop) {
    loop.start_ready(kTellsSignals, {{SIGUSR1, 60000ms}, {SIGKILL, 3000ms}});
    loop.start_ready("trap '' TERM; (setsid sleep 1000 &); ready; while :; do sleep 1001; done");
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_EQ(line(), "term");
  EXPECT_EQ(wait_for_guardian(), 128 + SIGKILL);
  EXPECT_FALSE(has_children());
}

TEST_F(JobsTest, EndSoonWhenTheGuardianIsKilledAndTheLoopNotices) {
  run([](Loop& loop) {
    loop.start_ready("trap '' TERM; (setsid sleep 1000 &); ready; while :; do sleep 1001; done");
    const auto job = loop.start_ready("ready; sleep 1002");
    ::kill(::getppid(), SIGKILL);
    loop.say(loop.next<GuardianLost>() ? "lost" : "not lost");
    // Its keeper notices the guardian's end too, and may have been faster.
    const auto end = loop.jobs.end(*job);
    if (end) {
      loop.say_end(*end);
    } else {
      loop.say("ended already");
    }
    loop.start("echo never");
  });
  EXPECT_EQ(line(), "lost");
  const std::string end = line();
  EXPECT_TRUE(end == "code 143 signal 15" || end == "ended already") << end;
  EXPECT_TRUE(contains(line(), "guardian"));
  EXPECT_EQ(line(), "");  // the jobs held this pipe open
  EXPECT_EQ(wait_for_guardian(), -SIGKILL);
}

TEST_F(JobsTest, DoNotGetTheSignalsOfTheTerminal) {
  run([](Loop& loop) {
    const auto job = loop.start_ready(kTellsSignals);
    loop.say("ready");
    loop.say(fmt::format("loop {}", loop.next<SignalArrived>()->signal));
    loop.end(*job);
  });
  EXPECT_EQ(line(), "ready");
  ::kill(-guardian_, SIGINT);
  EXPECT_EQ(line(), "loop 2");
  EXPECT_EQ(line(), "term");
}

TEST_F(JobsTest, AreEndedEvenIfTheirKeeperIsKilled) {
  run([](Loop& loop) {
    loop.start_ready(
        "(setsid sh -c 'echo $$; : > $MARKS/1; exec sleep 1000' &); await 1; echo $PPID; ready; sleep 1001");
    loop.start_ready("echo $$; ready; sleep 1002");
    loop.say_end(loop.next<JobEnded>());
    loop.next<SignalArrived>();
  });
  const int stray = number(), keeper = number(), other = number();
  ASSERT_GT(keeper, 1);
  ::kill(keeper, SIGKILL);
  EXPECT_EQ(line(), "code 137 signal 9");
  EXPECT_TRUE(soon_dead(stray));
  EXPECT_TRUE(is_alive(other));
  ::kill(guardian_, SIGTERM);
  EXPECT_EQ(wait_for_guardian(), 7);
}

TEST_F(JobsTest, SayWhyTheyCouldNotBeStarted) {
  run([](Loop& loop) {
    JobRequest request = loop.request("");
    request.launch.argv = {"no-such-program"};
    loop.start(request);
    request.launch.argv = {"/etc/passwd"};
    loop.start(request);
    request = loop.request("exit 0");
    request.launch.folder = "/no/such/folder";
    loop.start(request);
    request = loop.request("exit 0");
    request.out = {-1, "/no/such/folder/log"};
    loop.start(request);
    request = loop.request("exit 0");
    request.name = std::string(65, 'x');
    loop.start(request);
    request = loop.request("exit 0");
    request.stop = {{SIGTERM, 100ms}};
    loop.start(request);
    loop.start("echo fine");
    loop.say_end(loop.next<JobEnded>());
  });
  EXPECT_EQ(line(), "error: cannot start the job test: no-such-program was not found on PATH");
  EXPECT_TRUE(contains(line(), "not executable"));
  EXPECT_EQ(line(), "error: cannot start the job test: there is no folder /no/such/folder");
  EXPECT_TRUE(contains(line(), "/no/such/folder/log"));
  EXPECT_TRUE(contains(line(), "1 to 64 bytes"));
  EXPECT_TRUE(contains(line(), "SIGKILL"));
  EXPECT_EQ(line(), "fine");
  EXPECT_EQ(line(), "code 0 signal 0");
}

TEST_F(JobsTest, AreLimitedInNumber) {
  run([](Loop& loop) {
    std::optional<JobId> last;
    for (size_t i = 0; i < kMaxJobs; ++i) last = loop.start("exec sleep 1000");
    loop.start("exec sleep 1000");
    loop.end(*last);
    loop.start("echo fine");
    loop.say_end(loop.next<JobEnded>());
  });
  EXPECT_EQ(line(), "error: cannot start the job test: 66 jobs are running, and more are not allowed at once");
  EXPECT_EQ(line(), "code 143 signal 15");
  EXPECT_EQ(line(), "fine");
  EXPECT_EQ(line(), "code 0 signal 0");
  EXPECT_EQ(wait_for_guardian(), 7);
  EXPECT_FALSE(has_children());
}

TEST_F(JobsTest, MayHaveAnEnvironmentOfAMegabyte) {
  run([](Loop& loop) {
    JobRequest request = loop.request("echo ${#BIG0} ${#BIG9}");
    for (int i = 0; i < 10; ++i) request.launch.environment.set(fmt::format("BIG{}", i), std::string(105'000, 'x'));
    loop.start(request);
    loop.next<JobEnded>();
    for (int i = 0; i < 90; ++i) request.launch.environment.set(fmt::format("BIG{}", i), std::string(105'000, 'x'));
    loop.start(request);
  });
  EXPECT_EQ(line(), "105000 105000");
  EXPECT_TRUE(contains(line(), "too large"));
}

TEST_F(JobsTest, ReadAndWriteFiles) {
  const ScratchFolder folder;
  ScratchFolder::write(folder / "in", "from a file\n");
  run([&](Loop& loop) {
    JobRequest request = loop.request("cat; echo err >&2");
    request.in.path = folder / "in";
    request.out = {-1, folder / "out"};
    request.launch.merge_streams = true;
    loop.start(request);
    loop.next<JobEnded>();
    request.in = {};
    request.launch.input = "given\n";
    request.launch.merge_streams = false;
    request.err = {};
    loop.start(request);
    loop.next<JobEnded>();
    loop.say("done");
  });
  EXPECT_EQ(line(), "done");
  EXPECT_EQ(ScratchFolder::read(folder / "out"), "from a file\nerr\ngiven\n");
}

TEST_F(JobsTest, CanNotBeAskedForByAnAgentOrAnotherJob) {
  run([](Loop& loop) {
    const std::string list = "ls -l /proc/self/fd | grep -c socket; ls /proc/self/fd | wc -l";
    loop.start_ready("ready; sleep 1000");
    loop.start(list);
    loop.next<JobEnded>();
    static_cast<void>(loop.processes.start(shell_launch(list)));
    std::string said;
    for (Event event = Exited{}; !std::holds_alternative<Finished>(event);
         event = loop.processes.next(loop.clock.monotonic() + 20s)) {
      if (const auto* output = std::get_if<Output>(&event)) said += output->bytes;
      if (std::holds_alternative<DeadlinePassed>(event)) break;
    }
    loop.say("agent\n" + said);
  });
  EXPECT_EQ(line(), "0");
  EXPECT_EQ(line(), "4");  // 0, 1, 2 and the folder that ls reads
  EXPECT_EQ(line(), "agent");
  EXPECT_EQ(line(), "0");
  EXPECT_EQ(line(), "4");
}

}  // namespace
}  // namespace ralph
