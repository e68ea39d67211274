#include "ui/run_view.h"

#include <gtest/gtest.h>

#include "journal/words_for_tests.h"

namespace ralph {
namespace {

class RunViewTest : public ::testing::Test {
 protected:
  template <class Body>
  Body& add(Body body) {
    bodies_.emplace_back(std::move(body));
    return std::get<Body>(bodies_.back());
  }
  RunView view() const {
    RunView run;
    std::int64_t sequence = 0;
    for (const record::Body& body : bodies_) {
      run.add({++sequence, WallTime{Milliseconds(sequence * 1000)}, body});
    }
    return run;
  }
  void add_guardrail(std::int64_t iteration, std::int64_t index, const char* outcome) {
    record::GuardrailStarted started;
    started.iteration = iteration, started.index = index, started.name = "make test";
    add(started);
    record::GuardrailEnded ended;
    ended.iteration = iteration, ended.index = index, ended.outcome = word(outcome), ended.feedback = "long";
    add(ended);
  }

  std::vector<record::Body> bodies_;
};

TEST_F(RunViewTest, TheLimitIsTheOneOfTheLastProcess) {
  add(record::RunStarted{}).max_iterations = 2;
  add(record::RunResumed{}).max_iterations = 4;
  EXPECT_EQ(view().start->max_iterations, 4);
}

TEST_F(RunViewTest, OfNothingIsARunThatNeverBegan) {
  EXPECT_EQ(view().state(false), "crashed");
  EXPECT_EQ(view().reason(false), "its journal is empty");
  EXPECT_EQ(view().state(true), "running");
  EXPECT_EQ(view().duration(), Milliseconds(0));
}

TEST_F(RunViewTest, GroupsStepsByIterationAndJoinsTheirTwoRecords) {
  add(record::RunStarted{}).agent = "claude";
  add(record::Decided{}).moment = word("before_iteration");
  add(record::IterationStarted{1});
  add(record::AgentStarted{}).attempt = 1;
  record::AgentEnded& crashed = add(record::AgentEnded{});
  crashed.attempt = 1, crashed.outcome = word("crashed");
  add(record::AgentStarted{}).attempt = 2;
  add(record::ProcessesSwept{StepKind::kAgent, {"pid 1: sleep"}, {}});
  record::AgentEnded& ok = add(record::AgentEnded{});
  ok.attempt = 2, ok.outcome = word("ok");
  add_guardrail(1, 1, "passed");
  add_guardrail(1, 2, "failed");
  add(record::IterationEnded{1, 1234});
  add(record::Decided{}).decision = word("continue");
  add(record::IterationStarted{2});

  const RunView run = view();
  EXPECT_EQ(run.start->agent, "claude");
  EXPECT_EQ(run.before.size(), 1u);
  ASSERT_EQ(run.iterations.size(), 2u);
  const IterationView& first = run.iterations[0];
  EXPECT_EQ(first.duration, Milliseconds(1234));
  ASSERT_EQ(first.steps.size(), 6u);
  EXPECT_EQ(std::get<AgentTurn>(first.steps[0]).ended->outcome, "crashed");
  EXPECT_EQ(std::get<AgentTurn>(first.steps[1]).ended->outcome, "ok");
  EXPECT_EQ(std::get<record::ProcessesSwept>(first.steps[2]).ended.size(), 1u);
  EXPECT_EQ(std::get<GuardrailCheck>(first.steps[3]).ended->outcome, "passed");
  EXPECT_EQ(std::get<GuardrailCheck>(first.steps[4]).ended->outcome, "failed");
  EXPECT_EQ(std::get<GuardrailCheck>(first.steps[4]).ended->feedback, "");
  EXPECT_EQ(std::get<record::Decided>(first.steps[5]).decision, "continue");
  EXPECT_FALSE(run.iterations[1].duration);
}

TEST_F(RunViewTest, DistinguishesARunningRunFromAKilledOne) {
  add(record::RunStarted{});
  EXPECT_EQ(view().reason(false), "it was killed before its first iteration");
  EXPECT_EQ(view().reason(true), "starting");
  add(record::IterationStarted{3});
  EXPECT_EQ(view().state(true), "running");
  EXPECT_EQ(view().reason(true), "in iteration 3");
  EXPECT_EQ(view().state(false), "crashed");
  EXPECT_EQ(view().reason(false), "it was killed in iteration 3");
  EXPECT_EQ(view().duration(), Milliseconds(1000));
}

TEST_F(RunViewTest, SaysHowARunEnded) {
  add(record::RunStarted{});
  record::RunEnded& ended = add(record::RunEnded{});
  ended.status = word("limit"), ended.reason = "10 iterations are over", ended.duration_ms = 77;
  for (bool alive : {false, true}) {  // its process may outlive its last record for a moment
    EXPECT_EQ(view().state(alive), "limit");
    EXPECT_EQ(view().reason(alive), "10 iterations are over");
  }
  EXPECT_EQ(view().duration(), Milliseconds(77));
}

TEST_F(RunViewTest, KeepsAStepWithOnlyOneOfItsRecords) {
  add(record::IterationStarted{1});
  add(record::AgentStarted{}).attempt = 1;
  add(record::ScmEnded{}).task = "commit";
  add(record::IterationEnded{9, 5});
  const RunView run = view();
  ASSERT_EQ(run.iterations[0].steps.size(), 2u);
  EXPECT_FALSE(std::get<AgentTurn>(run.iterations[0].steps[0]).ended);
  EXPECT_EQ(std::get<ScmTask>(run.iterations[0].steps[1]).ended->task, "commit");
  EXPECT_FALSE(run.iterations[0].duration);
}

TEST_F(RunViewTest, CountsRecordsOfALaterVersion) {
  add(record::Unknown{"party", {}});
  EXPECT_EQ(view().unknown_records, 1);
  EXPECT_EQ(view().records, 1);
}

}  // namespace
}  // namespace ralph
