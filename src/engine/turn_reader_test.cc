#include "engine/turn_reader.h"

#include <gtest/gtest.h>

#include "agents/registry.h"
#include "engine/turn_outcome.h"
#include "journal/words_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

class Counter : public EventSink {
 public:
  void on_event(const AgentEvent&) override { ++count; }
  int count = 0;
};

class TurnReaderTest : public ::testing::Test {
 protected:
  TurnReader& tell(std::initializer_list<AgentEvent> events) {
    for (const AgentEvent& event : events) reader_.on_event(event);
    return reader_;
  }

  TurnOutcome outcome(StepEnd end = {}, const Adapter& adapter = kClaude, std::string_view error = "") {
    reader_.finish();
    return judge_turn({end, reader_, adapter, "claude", error, true}).outcome;
  }

  Observation observe_at(Milliseconds time) const {
    Observation observation;
    reader_.observe(observation, MonotonicTime(time));
    return observation;
  }

  Counter next_;
  TurnReader reader_{"Fix it and answer <response>DONE</response>.", next_};
};

TEST_F(TurnReaderTest, AcceptsOnlyTheAgentsOwnWordsAsAnAnswer) {
  tell({event::Thinking{"<response>DONE</response>"}, event::Text{"<response>DONE</response>", false, true},
        event::ToolEnd{"1", "Bash", "<response>DONE</response>"},
        event::Failure{FailureKind::kOther, "<response>DONE</response>"},
        event::Progress{"x", "<response>DONE</response>"}});
  reader_.finish();
  EXPECT_EQ(reader_.response(), std::nullopt);
  EXPECT_EQ(next_.count, 5);
}

TEST_F(TurnReaderTest, JoinsATagThatIsSplitOverPieces) {
  tell({event::Text{"All done. <resp", true}, event::Text{"onse>DO", true}, event::Text{"NE</response>", true}});
  reader_.finish();
  EXPECT_EQ(reader_.response(), "DONE");
}

TEST_F(TurnReaderTest, DoesNotJoinSeparateTexts) {
  tell({event::Text{"<response>DO"}, event::Text{"NE</response>"}});
  reader_.finish();
  EXPECT_EQ(reader_.response(), std::nullopt);
}

TEST_F(TurnReaderTest, UsesTheResultsTextIfThereWasNoOther) {
  tell({event::Result{false, "<response>DONE</response>", {}, {}, 1, 1s}});
  reader_.finish();
  EXPECT_EQ(reader_.response(), "DONE");
}

TEST_F(TurnReaderTest, AddsUpWhatWasUsedAndCorrectsEstimates) {
  tell({event::Spent{{100, 0, 10, 0}, 0, true}, event::Spent{{50, 20, 0, 0}, 0.25, false},
        event::Spent{{-10, 5, 0, 0}, 0, false}});
  EXPECT_EQ(reader_.tokens(), (Tokens{140, 25, 10, 0}));
  EXPECT_DOUBLE_EQ(reader_.cost_usd(), 0.25);
  EXPECT_EQ(observe_at(0ms).turn.tokens, 175);
}

TEST_F(TurnReaderTest, KnowsWhichToolsStillRun) {
  tell({event::ToolStart{"1", "Bash"}, event::ToolStart{"2", "Read"}, event::ToolEnd{"1"}});
  EXPECT_EQ(observe_at(0ms).turn.tools_running, 1);
  tell({event::ToolEnd{"2"}, event::ToolEnd{"3"}});
  EXPECT_EQ(observe_at(0ms).turn.tools_running, 0);
  EXPECT_EQ(reader_.tools(), 3);
}

TEST_F(TurnReaderTest, MeasuresHowLongAgoTheResultWasUnlessWorkWentOn) {
  reader_.arrived_at(MonotonicTime(5s));
  tell({event::Text{"done"}, event::Result{}});
  EXPECT_EQ(observe_at(8s).turn.since_result, 3s);
  tell({event::Text{"a background task has ended"}});
  EXPECT_EQ(observe_at(9s).turn.since_result, std::nullopt);
}

TEST_F(TurnReaderTest, HasNewsOnceForWhatMayChangeADecision) {
  tell({event::Text{"hello"}});
  EXPECT_FALSE(reader_.take_news());
  tell({event::Spent{{1, 1, 0, 0}, 0, false}});
  EXPECT_TRUE(reader_.take_news());
  EXPECT_FALSE(reader_.take_news());
}

TEST_F(TurnReaderTest, AGoodTurnIsOk) {
  tell({event::Session{"s"}, event::Text{"done"}, event::Result{}});
  EXPECT_EQ(outcome(), "ok");
}

TEST_F(TurnReaderTest, ATurnWithoutAResultCrashed) {
  tell({event::Session{"s"}, event::Text{"done"}});
  EXPECT_EQ(outcome(), "crashed");
}

TEST_F(TurnReaderTest, ATurnThatSaidAndDidNothingIsEmpty) {
  tell({event::Session{"s"}, event::Result{}});
  EXPECT_EQ(outcome(), "empty");
}

TEST_F(TurnReaderTest, ATurnInWhichEveryToolWasRefusedCantWork) {
  const event::Progress refused{event::Progress::kPermissionDenied, "Write"};
  tell({event::ToolStart{"0", "Read", ""}, event::ToolEnd{"0", "Read", "text"}, event::ToolStart{"1", "Write", ""},
        refused, event::ToolEnd{"1", "Write", "not granted", true}, event::Text{"I can't"}, event::Result{}});
  EXPECT_EQ(outcome(), "permission_denied");
  tell({event::ToolStart{"2", "Bash", ""}, event::ToolEnd{"2", "Bash", "ok"}, event::Result{}});
  EXPECT_EQ(outcome(), "ok");
}

TEST_F(TurnReaderTest, AFailureIsWhatItIsUnlessTheAgentRecovered) {
  tell({event::Failure{FailureKind::kOverloaded, "529"}, event::Result{true}});
  EXPECT_EQ(outcome({{1, 0}}), "overloaded");
  tell({event::Text{"again"}, event::Result{false}});
  EXPECT_EQ(outcome(), "ok");
}

TEST_F(TurnReaderTest, TheExitCodeClassifiesAFailureThatTheEventsLeaveOpen) {
  tell({event::Failure{FailureKind::kOther, "[API Error: Overloaded]"}, event::Result{true}});
  EXPECT_EQ(outcome({{503 % 256, 0}}, kGemini), "overloaded");
  EXPECT_EQ(outcome({{401 % 256, 0}}, kGemini), "authentication");
  EXPECT_EQ(outcome({{1, 0}}, kGemini), "failed");
}

TEST_F(TurnReaderTest, ALimitKeepsItsTime) {
  const WallTime reset{Milliseconds(1'794'800'000'000)};
  tell(
      {event::Limit{true, reset, "five_hour"}, event::Failure{FailureKind::kUsageLimit, "limit"}, event::Result{true}});
  EXPECT_EQ(outcome({{1, 0}}), "usage_limit");
  EXPECT_EQ(reader_.resets_at(), reset);
}

TEST_F(TurnReaderTest, AnAgentThatHadToBeEndedAfterItsResultDidWell) {
  tell({event::Text{"done"}, event::Result{}});
  StepEnd end{{143, 15}, EndCause::kLingered, "it stayed"};
  EXPECT_EQ(outcome(end), "ok");
}

TEST_F(TurnReaderTest, TheCauseOfItsEndOutranksItsWords) {
  tell({event::Text{"done"}, event::Result{}});
  EXPECT_EQ(outcome({{143, 15}, EndCause::kTimedOut, "too long"}), "timed_out");
}

TEST_F(TurnReaderTest, ItsExitExplainsWhyItDidNotStart) {
  EXPECT_EQ(outcome({{1, 0}}, kClaude,
                    "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"),
            "permission_denied");
  EXPECT_EQ(outcome({{55, 0}}, kGemini), "permission_denied");
  EXPECT_EQ(outcome({{1, 0}}, kClaude, "some trouble"), "crashed");
}

}  // namespace
}  // namespace ralph
