// A way of about thirty lines that waits for a file, as a supervised task does, without its own loop.
#include "engine/way.h"

#include <filesystem>
#include <fstream>
#include <signal.h>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "engine/fake_processes_for_tests.h"
#include "journal/reader.h"
#include "journal/words_for_tests.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

class FileWay : public Way {
 public:
  FileWay(const Run& run, Agents agents, std::string file) : run_(run), agents_(agents), file_(std::move(file)) {}

  Result<NextTurn> next() override {
    NextTurn turn{fmt::format("attempt {}", run_.progress().iteration), agents_};
    turn.folder = "/elsewhere";
    turn.environment = {{"TASK_FOLDER", "/task"}};
    turn.change = [](Launch launch) {
      launch.argv.insert(launch.argv.begin(), "sandbox");
      return launch;
    };
    return turn;
  }
  Status after_turn(const Decision&) override { return ++turns, Status{}; }
  Result<Observation> observe() override {
    Observation now;
    now.moment = Moment::kAtStop;
    now.signals.promised = run_.awaited_file_is_there();
    return now;
  }
  std::vector<std::string> files() const override { return {file_}; }

  int turns = 0;

 private:
  const Run& run_;
  Agents agents_;
  std::string file_;
};

class WayTest : public ::testing::Test {
 protected:
  Result<Decision> drive_it() {
    agents_.push_back(*Agent::make({"/bin/cat", {}, PromptPath::kStdin}, Environment{}, folder_.path()));
    Policy policy;
    policy.promise = true;
    run_.emplace(*ralph::Run::open({"run", folder_.path()}, policy,
                                   {processes_, clock_, redactor_, listener_, folder_.path(), Environment{}}));
    FileWay way(*run_, agents_, file_);
    Result<Decision> decision = drive(*run_, way);
    turns_ = way.turns;
    return decision;
  }

  ScratchFolder folder_;
  std::string file_ = folder_ / "DONE";
  FakeClock clock_;
  FakeProcesses processes_{clock_};
  Redactor redactor_{std::vector<std::string>{}};
  NullListener listener_;
  std::vector<Agent> agents_;
  std::optional<ralph::Run> run_;
  int turns_ = 0;
};

TEST_F(WayTest, AFileThatAppearsEndsTheTurn) {
  processes_.expect({"working", 0, 1s});
  Act second{"still working", 0, 3600s};
  second.touches = file_;
  processes_.expect(second);
  const auto decision = drive_it();
  ASSERT_TRUE(decision) << decision.error().message;
  EXPECT_EQ(decision->status, StopStatus::kComplete);
  EXPECT_EQ(run_->progress().turn_outcome, "file_appeared");
  EXPECT_EQ(turns_, 2);
  EXPECT_EQ(processes_.ended(), 1);
  EXPECT_LT(run_->time_spent(), 60s);
}

TEST_F(WayTest, AFileThatAppearsEndsAWait) {
  processes_.expect({"", 1});  // crashes, and is retried after a pause
  processes_.appears_during_next_wait(file_);
  ASSERT_TRUE(drive_it());
  EXPECT_EQ(turns_, 1) << "there is no second try";
  EXPECT_EQ(processes_.launches().size(), 1U);
  EXPECT_LT(run_->time_spent(), 60s);
}

// Creates the file without an event, as on a system without file watches.
class SilentProcesses : public FakeProcesses {
 public:
  SilentProcesses(FakeClock& clock, std::string file) : FakeProcesses(clock), file_(std::move(file)) {}
  Event next(std::optional<MonotonicTime> deadline) override {
    if (++calls == 12) std::ofstream(file_) << "";
    return FakeProcesses::next(deadline);
  }
  Status watch_file(const std::string& path) override { return fail(ErrorKind::kIo, "cannot watch {}", path); }

  int calls = 0;

 private:
  std::string file_;
};

TEST_F(WayTest, WithoutFileEventsItPollsAndSaysSo) {
  struct Listening : NullListener {
    void on_trouble(std::string_view line) override { said += line; }
    std::string said;
  } listener;
  SilentProcesses processes(clock_, file_);
  processes.expect({"", 1});  // crashes, and is retried after an hour
  agents_.push_back(*Agent::make({"/bin/cat", {}, PromptPath::kStdin}, Environment{}, folder_.path()));
  Policy policy;
  policy.promise = true;
  policy.retry_backoff = policy.retry_max_backoff = 3600s;
  run_.emplace(*ralph::Run::open({"run", folder_.path()}, policy,
                                 {processes, clock_, redactor_, listener, folder_.path(), Environment{}}));
  FileWay way(*run_, agents_, file_);
  ASSERT_TRUE(drive(*run_, way));
  EXPECT_LT(run_->time_spent(), 60s);
  EXPECT_GT(processes.calls, 10);
  EXPECT_NE(listener.said.find("checking every 1.0s instead"), std::string::npos) << listener.said;
}

TEST_F(WayTest, SaysWhereAndHowTheAgentIsStarted) {
  std::ofstream(file_) << "";
  processes_.expect({"x", 0, 1s});
  ASSERT_TRUE(drive_it());
  const Launch& launch = processes_.launches().at(0);
  EXPECT_EQ(launch.argv.front(), "sandbox");
  EXPECT_EQ(launch.folder, "/elsewhere");
  EXPECT_EQ(launch.environment.get("TASK_FOLDER"), "/task");
  EXPECT_EQ(launch.input, "attempt 1");
}

// Has work of an earlier run to check.
class LeftWay : public FileWay {
 public:
  LeftWay(const Run& run, Agents agents) : FileWay(run, agents, "/nowhere"), left_(agents) {}
  Result<std::optional<Agents>> begin() override { return std::optional(left_); }
  Result<IterationChecks> checks() override {
    IterationChecks checks;
    for (const char* command : {"first", "second"}) checks.guardrails.emplace_back().command = command;
    return checks;
  }

 private:
  Agents left_;
};

TEST_F(WayTest, ChecksOfLeftWorkThatAreCutShortReplaceNoFeedback) {
  for (const bool cut_short : {true, false}) {
    processes_.expect({"", 1, 0ms, cut_short ? std::vector{SIGINT} : std::vector<int>{}});
    if (!cut_short) processes_.expect({"", 0});
    if (!cut_short) processes_.expect({"", 0, 1h, {SIGINT, SIGINT}});  // the next iteration's agent
    agents_.assign(1, *Agent::make({"/bin/cat", {}, PromptPath::kStdin}, Environment{}, folder_.path()));
    const std::string journal = folder_ / (cut_short ? "short" : "whole");
    std::filesystem::create_directory(journal);
    run_.emplace(*ralph::Run::open({"run", journal}, Policy{},
                                   {processes_, clock_, redactor_, listener_, folder_.path(), Environment{}}));
    record::GuardrailEnded before;
    before.outcome = CheckOutcome::kFailed;
    before.feedback = "an earlier failure";
    ASSERT_TRUE(run_->note(record::IterationStarted{1}) && run_->note(before) && run_->note(record::IterationEnded{1}));
    LeftWay way(*run_, agents_);
    ASSERT_TRUE(drive(*run_, way));
    ASSERT_EQ(run_->progress().feedback.size(), 1U);
    const bool kept = run_->progress().feedback[0].message == before.feedback;
    EXPECT_EQ(kept, cut_short);
    EXPECT_TRUE(processes_.script_is_over());
  }
}

}  // namespace
}  // namespace ralph
