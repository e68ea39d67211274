#include "engine/engine.h"

#include <filesystem>
#include <signal.h>

#include <gtest/gtest.h>

#include "engine/fake_processes_for_tests.h"
#include "engine/prompt_way.h"
#include "journal/reader.h"
#include "journal/words_for_tests.h"

namespace ralph {
namespace {

using namespace std::chrono_literals;

class Silent : public NullListener {
 public:
  void on_record(const record::Record& record, const Progress&) override { records.push_back(record); }
  std::vector<record::Record> records;
};

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    char folder[] = "/tmp/ralph-engine-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::filesystem::create_directory(folder_ + "/.ralph");
    settings_.guardrails = {GuardrailSettings{"make test", FailAction::kAppend, "", "", 0}};
    settings_.agent.command = "/bin/cat";
    settings_.agent.prompt_via = PromptVia::kStdin;
  }
  ~EngineTest() override { std::filesystem::remove_all(folder_); }

  Result<Decision> run() {
    const Environment environment = Environment::of_this_process();
    const Redactor redactor(std::vector<std::string>{});
    std::vector<Agent> agents;
    for (const Agent::Setup& setup : setups_) agents.push_back(*Agent::make(setup, environment, folder_));
    ralph::Run run = *ralph::Run::open({"run", folder_}, policy_from(settings_),
                                       {processes_, clock_, redactor, listener_, folder_, environment});
    const PromptSource prompt = PromptSource::text("Fix it.");
    PromptWay way(run, settings_, agents, prompt);
    Result<Decision> decision = drive(run, way);
    progress_ = run.progress();
    return decision;
  }

  template <class R>
  std::vector<R> records() const {
    std::vector<R> found;
    for (const record::Record& record : listener_.records) {
      if (const R* body = std::get_if<R>(&record.body)) found.push_back(*body);
    }
    return found;
  }

  std::string prompt_of(size_t launch) const { return processes_.launches().at(launch).input; }

  std::string folder_;
  Settings settings_;
  std::vector<Agent::Setup> setups_ = {{"/bin/cat", {}, PromptPath::kStdin}};
  FakeClock clock_;
  FakeProcesses processes_{clock_};
  Silent listener_;
  Progress progress_;
};

TEST_F(EngineTest, CompletesWhenGuardrailsPassAndTheAgentAnswered) {
  processes_.expect({"<response>DONE</response>"});
  processes_.expect({});
  const auto decision = run();
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->status, StopStatus::kComplete);
  EXPECT_EQ(progress_.iteration, 1);
}

TEST_F(EngineTest, FeedsAFailureIntoTheNextPromptAndForgetsItOnceItPasses) {
  settings_.guardrails[0].hint = "Mind the gap.";
  processes_.expect({"<response>DONE</response>"});
  processes_.expect({"1 test failed\n", 2});
  processes_.expect({"still working"});
  processes_.expect({});
  processes_.expect({"<response>DONE</response>"});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  EXPECT_EQ(prompt_of(0), "Fix it.");
  EXPECT_EQ(prompt_of(2),
            "Fix it.\n\nGuardrail \"make test\" failed with exit code 2.\nHint: Mind the gap.\n"
            "Output file: .ralph/guardrail_1_make_test.log\nOutput (truncated):\n1 test failed\n");
  EXPECT_EQ(prompt_of(4), "Fix it.");
}

TEST_F(EngineTest, StopsAtTheLimit) {
  settings_.maximum_iterations = 2;
  for (int i = 0; i < 2; ++i) {
    processes_.expect({"working"});
    processes_.expect({"", 1});
  }
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_TRUE(processes_.script_is_over());
}

TEST_F(EngineTest, TriesACrashedAgentAgainWithinItsIteration) {
  processes_.expect({"oops", 1});
  processes_.expect({"", 0});
  processes_.expect({"<response>DONE</response>"});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  EXPECT_EQ(progress_.iteration, 1);
  EXPECT_EQ(progress_.attempts, 3);
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 6s);  // 2 s and 4 s of back-off
}

TEST_F(EngineTest, SpendsAnIterationOnACrashThatPersistsAndStillChecksTheTree) {
  settings_.agent.retry.attempts = 2;
  settings_.maximum_iterations = 1;
  processes_.expect({"<response>DONE</response>", 1});
  processes_.expect({"<response>DONE</response>", 1});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_TRUE(processes_.script_is_over());
}

TEST_F(EngineTest, LetsTheAgentFinishOnTheFirstSignalAndStartsNothingMore) {
  processes_.expect({"<response>DONE</response>", 0, 10ms, {SIGINT}});
  EXPECT_EQ(run()->status, StopStatus::kInterrupted);
  EXPECT_EQ(processes_.ended(), 0);
  EXPECT_EQ(processes_.launches().size(), 1U);
}

TEST_F(EngineTest, EndsTheAgentOnTheSecondSignal) {
  processes_.expect({"<response>DONE</response>", 0, 1h, {SIGINT, SIGTERM}});
  EXPECT_EQ(run()->status, StopStatus::kInterrupted);
  EXPECT_EQ(processes_.ended(), 1);
  EXPECT_EQ(records<record::AgentEnded>().at(0).outcome, "interrupted");
}

TEST_F(EngineTest, EndsTheAgentOnAHangUp) {
  processes_.expect({"", 0, 1h, {SIGHUP}});
  EXPECT_EQ(run()->status, StopStatus::kInterrupted);
  EXPECT_EQ(processes_.ended(), 1);
}

TEST_F(EngineTest, StopsWaitingForARetryWhenASignalComes) {
  processes_.expect({"oops", 1});
  settings_.agent.retry.backoff_seconds = 3600;
  settings_.agent.retry.max_backoff_seconds = 3600;
  processes_.signal_later(SIGTERM);
  EXPECT_EQ(run()->status, StopStatus::kInterrupted);
  EXPECT_LT(clock_.monotonic().time_since_epoch(), 3600s);
}

TEST_F(EngineTest, WaitsForARetryNoLongerThanTheRunMayTake) {
  processes_.expect({"oops", 1});
  settings_.agent.retry.backoff_seconds = 3600;
  settings_.agent.retry.max_backoff_seconds = 3600;
  settings_.budget.max_minutes = 2;
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 120s);
}

TEST_F(EngineTest, EndsATurnThatTakesTooLongAndDoesNotBelieveIt) {
  settings_.agent.timeout_seconds = 60;
  settings_.maximum_iterations = 1;
  processes_.expect({"<response>DONE</response>", 0, 1h});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_EQ(records<record::AgentEnded>().at(0).outcome, "timed_out");
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 60s);
}

TEST_F(EngineTest, EndsAGuardrailThatHangsAndTellsTheAgent) {
  settings_.guardrails[0].timeout_seconds = 30;
  settings_.maximum_iterations = 1;
  processes_.expect({"<response>DONE</response>"});
  processes_.expect({"", 0, 1h});
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  const auto ended = records<record::GuardrailEnded>().at(0);
  EXPECT_EQ(ended.outcome, "timed_out");
  EXPECT_NE(ended.feedback.find("Guardrail \"make test\" timed out after 30.0s."), std::string::npos);
}

TEST_F(EngineTest, EndsARunWhoseTimeIsOver) {
  settings_.budget.max_minutes = 2;
  processes_.expect({"<response>DONE</response>", 0, 1h});
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_EQ(clock_.monotonic().time_since_epoch(), 120s);
  EXPECT_EQ(records<record::AgentEnded>().at(0).outcome, "over_budget");
}

TEST_F(EngineTest, DoesNotCountTheMachinesSleepEvenIfItIsKilledLater) {
  settings_.budget.max_minutes = 60;
  Act agent{"<response>DONE</response>", 0, 10min};
  agent.sleeps = 2h;
  processes_.expect(agent);
  processes_.expect({"", 0, 5min});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  EXPECT_EQ(records<record::RunPaused>().at(0).duration_ms, Milliseconds(2h).count());
  EXPECT_EQ(records<record::IterationEnded>().at(0).duration_ms, Milliseconds(15min).count());
  EXPECT_EQ(progress_.run_time, 15min);
  Progress killed, whole;  // killed before the agent's turn was recorded
  auto journal = JournalReader::open(folder_ + "/journal.jsonl");
  ASSERT_TRUE(journal);
  for (auto record = journal->next(); record && *record; record = journal->next()) {
    if (std::holds_alternative<record::AgentEnded>((*record)->body)) killed = whole;
    whole = fold(std::move(whole), **record);
  }
  EXPECT_TRUE(whole == progress_);
  EXPECT_EQ(killed.run_time, 10min);
  EXPECT_EQ(killed.last_record - killed.running->started, Milliseconds(130min));
  EXPECT_EQ(ralph::Run::limit_met(policy_from(settings_), killed, killed.run_time), Limit::kNone);
}

// Output lines of Claude Code.
constexpr std::string_view kSession = R"({"type":"system","subtype":"init","session_id":"S1"})"
                                      "\n";
constexpr std::string_view kTool =
    R"({"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}})"
    "\n"
    R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]}})"
    "\n";

std::string says(std::string_view text) {
  return fmt::format(R"({{"type":"assistant","message":{{"id":"m2","content":[{{"type":"text","text":"{}"}}]}}}})"
                     "\n",
                     text);
}

std::string result(double cost) {
  return fmt::format(R"({{"type":"result","subtype":"success","is_error":false,"result":"","total_cost_usd":{},)"
                     R"("usage":{{"input_tokens":100,"output_tokens":10}}}})"
                     "\n",
                     cost);
}

std::string limit(WallTime resets_at) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(resets_at.time_since_epoch()).count();
  return fmt::format(
      R"({{"type":"assistant","message":{{"id":"e","content":[{{"type":"text","text":"limit"}}]}},"error":"rate_limit",)"
      R"("is_api_error_message":true,"api_error_status":429,"api_error":"usage_limit_reached","api_error_params":)"
      R"({{"rate_limit_info":{{"status":"rejected","resetsAt":{}}}}}}})"
      "\n"
      R"({{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,)"
      R"("api_error":"usage_limit_reached","result":"limit","total_cost_usd":0,"usage":{{}}}})"
      "\n",
      seconds);
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (std::string_view part : parts) all += part;
  return all;
}

class StreamingTest : public EngineTest {
 protected:
  StreamingTest() { setups_ = {{.command = "/bin/cat", .kind = "claude", .name = "first"}}; }

  bool launched_with(size_t launch, std::string_view word) const {
    const auto& argv = processes_.launches().at(launch).argv;
    return std::find(argv.begin(), argv.end(), word) != argv.end();
  }
};

TEST_F(StreamingTest, WaitsForALimitAndResumesTheSessionThatItCutOff) {
  processes_.expect({joined({kSession, kTool, limit(clock_.wall() + 2h)}), 1});
  processes_.expect({joined({kSession, says("<response>DONE</response>"), result(0.5)})});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  EXPECT_EQ(progress_.iteration, 1);
  EXPECT_GE(clock_.monotonic().time_since_epoch(), 2h);
  EXPECT_FALSE(launched_with(0, "--resume"));
  EXPECT_TRUE(launched_with(1, "S1"));
  EXPECT_EQ(prompt_of(1), "You were interrupted. Go on with the task where you left off.");
}

TEST_F(StreamingTest, StartsOverIfTheLimitCameBeforeAnyWork) {
  processes_.expect({joined({kSession, limit(clock_.wall() + 1h)}), 1});
  processes_.expect({joined({kSession, says("<response>DONE</response>"), result(0.5)})});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  EXPECT_FALSE(launched_with(1, "--resume"));
  EXPECT_EQ(prompt_of(1), "Fix it.");
}

TEST_F(StreamingTest, GoesOnWithTheFallbackAndReturns) {
  setups_.push_back({.command = "/bin/cat", .kind = "claude", .name = "second"});
  processes_.expect({joined({kSession, limit(clock_.wall() + 1h)}), 1});
  processes_.expect({joined({kSession, says("half"), result(0.5)}), 0, 2h});
  processes_.expect({"", 1});
  processes_.expect({joined({kSession, says("<response>DONE</response>"), result(0.5)})});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  std::vector<std::string> agents;
  for (const auto& ended : records<record::AgentEnded>()) agents.push_back(ended.agent);
  EXPECT_EQ(agents, (std::vector<std::string>{"first", "second", "first"}));
}

TEST_F(StreamingTest, StopsWhenTheMoneyIsSpent) {
  settings_.budget.max_cost_usd = 1;
  for (int i = 0; i < 2; ++i) {
    processes_.expect({joined({kSession, says("working"), result(0.6)})});
    processes_.expect({});
  }
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_DOUBLE_EQ(progress_.cost_usd, 1.2);
  EXPECT_TRUE(processes_.script_is_over());
}

TEST_F(StreamingTest, AFailedTurnCompletesNothing) {
  settings_.maximum_iterations = 1;
  processes_.expect(
      {joined({kSession, says("<response>DONE</response>"),
               R"({"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns"})"
               "\n"}),
       1});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kLimit);
  EXPECT_EQ(records<record::AgentEnded>().at(0).outcome, "max_turns");
}

TEST_F(EngineTest, RecordsWhatWasLeftBehind) {
  processes_.expect({"<response>DONE</response>", 0, 0ms, {}, {"sleep 1000"}});
  processes_.expect({});
  EXPECT_EQ(run()->status, StopStatus::kComplete);
  EXPECT_EQ(records<record::ProcessesSwept>().at(0).ended.at(0), "pid 99: sleep 1000");
}

TEST_F(EngineTest, ProgressIsTheSameWhenTheJournalIsReadBack) {
  processes_.expect({"<response>no</response>"});
  processes_.expect({"failed", 1});
  processes_.expect({"<response>DONE</response>"});
  processes_.expect({});
  ASSERT_TRUE(run());
  Progress replayed;
  auto journal = JournalReader::open(folder_ + "/journal.jsonl");
  ASSERT_TRUE(journal);
  for (auto record = journal->next(); record && *record; record = journal->next()) {
    replayed = fold(std::move(replayed), **record);
  }
  EXPECT_EQ(replayed.iteration, progress_.iteration);
  EXPECT_EQ(replayed.response, progress_.response);
  EXPECT_EQ(replayed.turn_outcome, progress_.turn_outcome);
  EXPECT_EQ(replayed.guardrails_passed, progress_.guardrails_passed);
  EXPECT_EQ(replayed.feedback.size(), progress_.feedback.size());
}

TEST_F(EngineTest, AnAgentThatVanishedIsAnErrorAndIsRecorded) {
  const auto result = run();  // the script is empty: start() fails
  EXPECT_FALSE(result);
  EXPECT_EQ(records<record::RunEnded>().at(0).status, "fatal");
}

}  // namespace
}  // namespace ralph
