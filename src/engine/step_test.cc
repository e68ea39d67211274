// Covers what the engine's tests do not: redaction across pieces, errors while a process runs, ticks, the order of
// events.
#include "engine/step.h"

#include <signal.h>

#include <gtest/gtest.h>

#include "engine/fake_processes_for_tests.h"
#include "journal/words_for_tests.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

class Watcher : public NullListener {
 public:
  std::optional<Milliseconds> countdown_interval() const override { return countdown; }
  void on_countdown(Milliseconds left) override { countdowns.push_back(left); }
  void on_record(const record::Record& record, const Progress&) override { records.push_back(record); }
  std::optional<Milliseconds> tick_interval() const override { return interval; }
  void on_tick(const Tick& tick) override {
    ticks.push_back(tick.running);
    last = tick;
  }

  Tick last;
  std::vector<record::Record> records;
  std::optional<Milliseconds> interval;
  std::vector<Milliseconds> ticks;
  std::optional<Milliseconds> countdown;
  std::vector<Milliseconds> countdowns;
};

class StepTest : public ::testing::Test {
 protected:
  StepTest() {
    request_.launch.argv = {"tool"};
    request_.kind = StepKind::kGuardrail;
    request_.on_output = [this](StreamName, std::string_view bytes) -> Status {
      output_ += bytes;
      return on_output_;
    };
  }

  Result<StepEnd> run() { return run_step(run_, request_); }

  template <class R>
  std::vector<R> records() const {
    std::vector<R> found;
    for (const record::Record& record : watcher_.records) {
      if (const R* body = std::get_if<R>(&record.body)) found.push_back(*body);
    }
    return found;
  }

  ScratchFolder folder_;
  FakeClock clock_;
  FakeProcesses processes_{clock_};
  Redactor redactor_{std::vector<std::string>{"MY_TOKEN=abcdefghijkl"}};
  Watcher watcher_;
  ralph::Run run_ = *ralph::Run::open({"run", folder_.path()}, {},
                                      {processes_, clock_, redactor_, watcher_, folder_.path(), Environment{}});
  StepRequest request_;
  std::string output_;
  Status on_output_;
};

TEST_F(StepTest, APauseDoesNotMissWhatCameAfterTheDecisionToWait) {
  Observation before;
  before.task = Observation::Task{};
  run_.look_with([](Observation& now) {
    now.task = Observation::Task{};
    now.task->done = true;
  });
  const MonotonicTime began = clock_.monotonic();
  ASSERT_TRUE(pause_until_news(run_, 1h, before));
  EXPECT_EQ(clock_.monotonic(), began);
}

TEST_F(StepTest, ReportsHowItEndedAndHowLongItTook) {
  processes_.expect({"hello", 3, 1500ms});
  const auto end = run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->status.code, 3);
  EXPECT_EQ(end->cause, EndCause::kNone);
  EXPECT_EQ(end->duration, 1500ms);
  EXPECT_EQ(output_, "hello");
}

TEST_F(StepTest, OutputPassesRedactionBeforeAnybodySeesIt) {
  processes_.expect({"the token is abcdefghijkl"});
  ASSERT_TRUE(run());
  EXPECT_EQ(output_.find("abcdefghijkl"), std::string::npos) << output_;
  EXPECT_TRUE(output_.starts_with("the token is ")) << output_;
}

TEST_F(StepTest, HeldBackOutputComesAtTheEnd) {
  processes_.expect({"the token is abcdefg"});  // the beginning of a secret
  ASSERT_TRUE(run());
  EXPECT_EQ(output_, "the token is abcdefg");
}

TEST_F(StepTest, AnErrorWhileRecordingEndsItAndIsReturned) {
  on_output_ = fail(ErrorKind::kIo, "the disk is full");
  processes_.expect({"hello"});
  const auto end = run();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "the disk is full");
}

TEST_F(StepTest, AProgramThatDoesNotStartIsAnError) {
  EXPECT_FALSE(run());  // the script is empty
  EXPECT_TRUE(watcher_.records.empty());
}

TEST_F(StepTest, TheRecordOfASignalComesBeforeTheDecisionItLeadsTo) {
  processes_.expect({"", 0, 1h, {SIGQUIT}});
  const auto end = run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause, "interrupted");
  EXPECT_EQ(processes_.ended(), 1);
  ASSERT_EQ(watcher_.records.size(), 2U);
  const auto* signal = std::get_if<record::SignalReceived>(&watcher_.records[0].body);
  ASSERT_NE(signal, nullptr);
  EXPECT_EQ(signal->signal, "SIGQUIT");
  EXPECT_EQ(signal->count, 2);
  const auto* decided = std::get_if<record::Decided>(&watcher_.records[1].body);
  ASSERT_NE(decided, nullptr);
  EXPECT_EQ(decided->decision, "end_now");
}

TEST_F(StepTest, CountsSignals) {
  processes_.expect({"", 0, 1h, {SIGINT, SIGTERM, SIGINT}});
  ASSERT_TRUE(run());
  std::vector<std::int64_t> counts;
  for (const auto& signal : records<record::SignalReceived>()) counts.push_back(signal.count);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(processes_.ended(), 1);
}

TEST_F(StepTest, TicksReportARunningCheck) {
  watcher_.interval = 10s;
  processes_.expect({"", 0, 35s});
  ASSERT_TRUE(run());
  ASSERT_GE(watcher_.ticks.size(), 3U);
  EXPECT_EQ(watcher_.ticks[0], 10s);
  EXPECT_EQ(watcher_.ticks[1], 20s);
  EXPECT_EQ(watcher_.ticks[2], 30s);
}

TEST_F(StepTest, TicksReportARunningAgentWithItsCost) {
  watcher_.interval = 10s;
  request_.moment = Moment::kDuringTurn;
  request_.observe = [](Observation& now, MonotonicTime) {
    now.turn.cost_usd = 0.5;
    now.turn.since_result = 5s;
  };
  run_.policy.linger_limit = 1h;
  processes_.expect({"", 0, 35s});
  ASSERT_TRUE(run());
  ASSERT_GE(watcher_.ticks.size(), 3U);
  EXPECT_EQ(watcher_.last.cost_usd, 0.5);
  EXPECT_EQ(watcher_.last.ended_in, Milliseconds(1h - 5s));
}

TEST_F(StepTest, ALimitHoldsAlthoughTicksComeMoreOften) {
  watcher_.interval = 10s;
  request_.limit = 25s;
  processes_.expect({"", 0, 1h});
  const auto end = run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->cause, "timed_out");
  EXPECT_EQ(end->duration, 25s);
}

TEST_F(StepTest, LeftoversAreRecordedWithTheirOwner) {
  processes_.expect({"", 0, 0ms, {}, {"sleep 1000"}});
  ASSERT_TRUE(run());
  const auto swept = records<record::ProcessesSwept>();
  ASSERT_EQ(swept.size(), 1U);
  EXPECT_EQ(swept[0].after, "guardrail");
}

TEST_F(StepTest, WhatProcDoesNotShowIsRecordedAsUnknown) {
  SweepReport swept;
  swept.unseen = true;
  EXPECT_EQ(swept_after(StepKind::kAgent, swept).survivors.size(), 1U);
}

TEST_F(StepTest, APauseEndsWithItsTimeOrWithASignal) {
  ASSERT_TRUE(pause(run_, 5s));
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 5s);
  processes_.signal_later(SIGTERM);
  ASSERT_TRUE(pause(run_, 1h));
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 5s);
  EXPECT_EQ(run_.progress().stop_requests, 1);
}

TEST_F(StepTest, APauseUntilATimeOfDayCountsTheMachinesSleepAndOneOfTimeSpentDoesNot) {
  processes_.sleeps_during_next_wait(2h);
  ASSERT_TRUE(pause(run_, 2h, PauseBy::kTimeOfDay));
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 1min) << "the first look at the clock after the machine woke up";
  processes_.sleeps_during_next_wait(2h);
  ASSERT_TRUE(pause(run_, 5min, PauseBy::kTimeSpent));
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 6min);
}

TEST_F(StepTest, APauseCountsDownWhereSomebodyWatches) {
  watcher_.countdown = 2s;
  ASSERT_TRUE(pause(run_, 5s));
  EXPECT_EQ(watcher_.countdowns, (std::vector<Milliseconds>{5s, 3s, 1s}));
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 5s);
}

TEST_F(StepTest, OnlyDecisionsOfConsequenceAreRecorded) {
  const auto step = run_.ask({Moment::kBetweenSteps});
  ASSERT_TRUE(step);
  EXPECT_EQ(step->action, Action::kContinue);
  EXPECT_TRUE(watcher_.records.empty());
  ASSERT_TRUE(run_.note(record::SignalReceived{"SIGINT", 1}));
  const auto stop = run_.ask({Moment::kBetweenSteps});
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->action, Action::kStop);
  ASSERT_EQ(records<record::Decided>().size(), 1U);
  EXPECT_EQ(records<record::Decided>()[0].rule, "stop_requested");
}

}  // namespace
}  // namespace ralph
