#include "session/stop.h"

#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"
#include "journal/words_for_tests.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"
#include "session/contract.h"

namespace ralph {
namespace {

const std::string kPromise = "<promise>DONE</promise>";

std::string claude(std::string_view block, std::string_view more = "") {
  return fmt::format(
      R"({{"isSidechain":false,"type":"assistant","sessionId":"s1","message":{{"role":"assistant","content":[{}]}}{}}})"
      "\n",
      block, more);
}
std::string says(std::string_view text, std::string_view more = "") {
  return claude(fmt::format(R"({{"type":"text","text":{}}})", json::serialize(json::string(text))), more);
}
std::string calls(std::string_view id, std::string_view more = "") {
  return claude(fmt::format(R"({{"type":"tool_use","id":"{}","name":"Bash","input":{{}}}})", id), more);
}

class StopTest : public testing::Test {
 protected:
  StopTest() {
    std::filesystem::create_directories(project_);
    ScratchFolder::write(transcript_, "");
  }

  void start(LoopRequest request = {}, bool with_transcript = true) {
    if (request.task.empty()) request.task = "fix it";
    request.stagnation_limit = stagnation_limit_;
    const auto started = store_.start(request, "s1", with_transcript ? transcript_ : "");
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  void append(std::string_view text) const { std::ofstream(transcript_, std::ios::app) << text; }
  StopRequest payload(std::optional<std::string> last_message) const {
    StopRequest made;
    made.session = "s1";
    made.transcript_path = transcript_;
    made.last_message = std::move(last_message);
    return made;
  }
  std::string rule_of(const StopRequest& payload) {
    const auto answer = judge_stop(store_, payload, environment_);
    if (!answer) return answer.error().message;
    return *answer ? std::string((*answer)->decision.rule) : "no loop";
  }
  std::string rule_of(std::optional<std::string> last_message) { return rule_of(payload(std::move(last_message))); }

  int stagnation_limit_ = 0;  // most tests stop often without doing anything
  ScratchFolder folder_;
  std::string project_ = folder_ / "p";
  std::string transcript_ = folder_ / "t.jsonl";
  Environment environment_ = [this] {
    Environment made;
    made.set("HOME", folder_ / "home");
    made.set("PATH", "/usr/bin:/bin");
    return made;
  }();
  LoopStore store_{project_, environment_};
};

TEST_F(StopTest, WithoutALoopThereIsNoAnswer) {
  EXPECT_EQ(rule_of(kPromise), "no loop");
  start();
  StopRequest other = payload(kPromise);
  other.session = "s2";
  EXPECT_EQ(rule_of(other), "no loop");
}

TEST_F(StopTest, APromiseAfterWorkIsAccepted) {
  start();
  EXPECT_EQ(rule_of("I'm done."), "promise_missing");
  append(calls("t1"));
  EXPECT_EQ(rule_of("All done.\n" + kPromise), "promise_accepted");
  EXPECT_EQ(rule_of("again"), "no loop");
  const LoopState ended = store_.history().at(0);
  EXPECT_EQ(ended.status, LoopStatus::kPromiseAccepted);
  EXPECT_EQ(ended.reason, "the promise was given after 1 tool call");
  EXPECT_EQ(ended.decisions.size(), 2U);
}

TEST_F(StopTest, OnlyTheExactPromiseCounts) {
  start();
  append(calls("t1"));
  for (const std::string text :
       {"DONE", "promise DONE", "<promise>done</promise>", "<promise> DONE </promise>", "<Promise>DONE</Promise>",
        "<promise>DONE!</promise>", "<promise>DONE</promise", "<promise>\nDONE\n</promise>",
        "<response>DONE</response>", "&lt;promise&gt;DONE&lt;/promise&gt;", ""}) {
    EXPECT_EQ(rule_of(text), "promise_missing") << text;
  }
  EXPECT_EQ(rule_of("When they pass I will output <promise>DONE</promise>"), "promise_mentioned");
  EXPECT_EQ(rule_of("It says:\n```\n<promise>DONE</promise>\n```\nBye!"), "promise_mentioned");
  EXPECT_EQ(rule_of("> <promise>DONE</promise>"), "promise_mentioned");
  EXPECT_EQ(rule_of("```\ncode\n```\n<promise>DONE</promise>\nBye!"), "promise_accepted") << "anywhere in the text";
}

TEST_F(StopTest, EchoingRalphsTextsIsNoPromise) {
  LoopRequest request;
  request.task = "Repair everything that is broken in here, and at the very end of it say <promise>DONE</promise>";
  start(request);
  append(calls("t1"));
  const LoopState state = **store_.load("s1");
  EXPECT_EQ(rule_of(prompt_contract(request)), "promise_missing");
  EXPECT_EQ(
      rule_of("I was told: " + continuation(state.request, static_cast<int>(state.iteration), "promise_missing", 0)),
      "promise_missing");
  EXPECT_EQ(rule_of("> " + request.task), "promise_missing");
  EXPECT_EQ(rule_of("Everything is repaired. <promise>DONE</promise>"), "promise_accepted");
}

TEST_F(StopTest, ToolCallsAreCountedOnceFromTheTranscript) {
  LoopRequest request;
  request.min_tool_calls = 3;
  start(request);
  append(calls("t1") + calls("t1") + calls("t2"));
  EXPECT_EQ(rule_of(kPromise), "promise_without_work");
  append(calls("t2"));
  EXPECT_EQ(rule_of(kPromise), "promise_without_work");
  append(calls("t3"));
  EXPECT_EQ(rule_of(kPromise), "promise_accepted");
}

TEST_F(StopTest, ACallThatIsRefusedAfterItWasCountedIsTakenBack) {
  start();
  append(calls("t1"));
  EXPECT_EQ(rule_of("waiting"), "promise_missing");
  append(R"({"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,)"
         R"("content":"PreToolUse:Bash hook error: no"}]}})"
         "\n");
  EXPECT_EQ(rule_of(kPromise), "promise_without_work");
}

TEST_F(StopTest, TheHooksOwnCountIsAsGood) {
  start();
  EXPECT_EQ(rule_of(kPromise), "promise_without_work");
  store_.count_tool_call("s1");
  EXPECT_EQ(rule_of(kPromise), "promise_accepted");
}

TEST_F(StopTest, WhatWasBeforeTheStartIsNotTheLoops) {
  append(calls("old") + says("Old work. " + kPromise));
  start();
  EXPECT_EQ(rule_of("not yet"), "promise_missing");
  EXPECT_EQ(rule_of(kPromise), "promise_without_work");
}

TEST_F(StopTest, WithoutAnOffsetTheHostsTimesTell) {
  const std::string before = R"(,"timestamp":"2020-01-01T00:00:00.000Z")";
  const std::string after = R"(,"timestamp":"2999-01-01T00:00:00.000Z")";
  append(calls("old", before) + says("Old work. " + kPromise, before));
  start({}, false);
  EXPECT_EQ(rule_of("not yet"), "promise_missing");
  append(calls("new", after));
  EXPECT_EQ(rule_of(kPromise), "promise_accepted");

  start({}, false);
  append(says("Now. " + kPromise, after) + calls("more", after));
  EXPECT_EQ(rule_of("and a last word"), "promise_accepted") << "said since the start, and then something more";
}

TEST_F(StopTest, AnotherFileOfTheSameSessionRepeatsNothing) {
  start();
  const std::string other = folder_ / "other.jsonl";
  ScratchFolder::write(other, says("Old. " + kPromise, R"(,"timestamp":"2020-01-01T00:00:00.000Z")"));
  StopRequest resumed = payload("going on");
  resumed.transcript_path = other;
  EXPECT_EQ(rule_of(resumed), "promise_missing");
  EXPECT_EQ((*store_.load("s1"))->host.transcript, other);
}

TEST_F(StopTest, APromiseBeforeTheLastMessageCounts) {
  start();
  append(calls("t1") + says("It is done. " + kPromise));
  EXPECT_EQ(rule_of("Goodbye."), "promise_accepted");
}

TEST_F(StopTest, OnlyTheSessionsOwnWordsCount) {
  start();
  append(calls("t1"));
  append(R"({"type":"user","isSidechain":false,"message":{"role":"user","content":"say <promise>DONE</promise>"}})"
         "\n");
  append(
      R"({"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"<promise>DONE</promise>"}]}})"
      "\n");
  append(claude(R"({"type":"thinking","thinking":"<promise>DONE</promise>"})"));
  append(claude(R"({"type":"tool_use","id":"t2","name":"Bash","input":{"command":"echo <promise>DONE</promise>"}})"));
  append(
      R"({"isSidechain":true,"type":"assistant","message":{"content":[{"type":"text","text":"<promise>DONE</promise>"}]}})"
      "\n");
  append(R"({"type":"system","subtype":"stop_hook_summary","uuid":"u","content":"<promise>DONE</promise>"})"
         "\n");
  EXPECT_EQ(rule_of("working"), "promise_missing");
}

TEST_F(StopTest, ATextThatComesLateIsWaitedFor) {
  start();
  append(calls("t1"));
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    append(says("Done. " + kPromise));
  });
  EXPECT_EQ(rule_of(std::nullopt), "promise_accepted");
  host.join();
}

TEST_F(StopTest, ARefusedPromiseThatIsWrittenLateIsNotSaidAgain) {
  start();
  EXPECT_EQ(rule_of(kPromise), "promise_without_work");
  append(says(kPromise) + calls("t1") + says("Now I have begun."));
  EXPECT_EQ(rule_of("Now I have begun."), "promise_missing");
  append(says(kPromise));
  EXPECT_EQ(rule_of(kPromise), "promise_accepted");
}

TEST_F(StopTest, WithoutAnyTextTheLoopGoesOn) {
  start();
  StopRequest bare;
  bare.session = "s1";
  EXPECT_EQ(rule_of(bare), "promise_missing");
  EXPECT_EQ((*store_.load("s1"))->iteration, 1);
}

TEST_F(StopTest, APromiseInTheLastIterationCountsAndTheLimitHolds) {
  LoopRequest request;
  request.max_iterations = 2;
  start(request);
  append(calls("t1"));
  EXPECT_EQ(rule_of("a"), "promise_missing");
  EXPECT_EQ(rule_of("b"), "promise_missing");
  EXPECT_EQ(rule_of(kPromise), "promise_accepted");
  start(request);
  EXPECT_EQ(rule_of("a"), "promise_missing");
  EXPECT_EQ(rule_of("b"), "promise_missing");
  EXPECT_EQ(rule_of("c"), "continuations_spent");
  EXPECT_EQ(store_.history().at(0).status, LoopStatus::kMaxIterationsReached);
}

TEST_F(StopTest, WhereNothingIsCountedTheTreeTells) {
  ASSERT_EQ(std::system(("cd '" + project_ + "' && git init -q").c_str()), 0);
  start({}, false);
  StopRequest uncounted = payload(kPromise);
  uncounted.transcript_path.clear();
  EXPECT_EQ(rule_of(uncounted), "promise_without_work");
  ScratchFolder::write(project_ + "/made", "x");
  EXPECT_EQ(rule_of(uncounted), "promise_accepted");
  EXPECT_EQ(store_.history().at(0).reason, "the promise was given and the tree has changed");
}

TEST_F(StopTest, WhereNothingCanBeKnownThePromiseIsAcceptedAndThatIsSaid) {
  start({}, false);
  StopRequest unknown = payload(kPromise);
  unknown.transcript_path = "/nowhere/t.jsonl";
  EXPECT_EQ(rule_of(unknown), "promise_accepted");
  EXPECT_EQ(store_.history().at(0).reason, "the promise was given; whether work was done can't be known here");
}

TEST_F(StopTest, WhereEveryCallIsCountedNoneIsNoWork) {
  start({}, false);
  StopRequest stop = payload(kPromise);
  stop.transcript_path = "";
  stop.calls_counted = true;
  EXPECT_EQ(rule_of(stop), "promise_without_work");
  store_.count_tool_call("s1");
  EXPECT_EQ(rule_of(stop), "promise_accepted");
}

TEST_F(StopTest, TasksInTheBackgroundAreMentioned) {
  start();
  StopRequest busy = payload("waiting");
  busy.background_tasks = {"b1", "b2"};
  EXPECT_EQ(rule_of(busy), "background_task_runs");
  EXPECT_EQ((*store_.load("s1"))->iteration, 0);
  const auto answer = judge_stop(store_, busy, environment_);
  EXPECT_NE((*answer)->continuation.find("2 tasks of yours are still running"), std::string::npos);
}

TEST_F(StopTest, IdleContinuationsEndTheLoop) {
  stagnation_limit_ = 2;
  start();
  EXPECT_EQ(rule_of("one"), "promise_missing");
  append(calls("t1"));
  EXPECT_EQ(rule_of("two"), "promise_missing");
  EXPECT_EQ(rule_of("three"), "promise_missing");
  EXPECT_EQ(rule_of("Which\none?"), "stagnant");
  const LoopState ended = store_.history().at(0);
  EXPECT_EQ(ended.status, LoopStatus::kStagnant);
  EXPECT_EQ(ended.reason, "2 continuations in a row without a tool call; the agent's last words: \"Which one?\"");
}

TEST_F(StopTest, ACancelInTheHostsQueueIsHeard) {
  start();
  const auto queue = [](std::string_view operation, std::string_view line) {
    return fmt::format(R"({{"type":"queue-operation","operation":"{}","sessionId":"s1","content":"{}"}})"
                       "\n",
                       operation, line);
  };
  append(queue("enqueue", "hello") + queue("enqueue", "/ralph:cancel") + queue("popAll", ""));
  EXPECT_EQ(rule_of("no"), "promise_missing");
  append(queue("enqueue", "/ralph:cancel"));
  EXPECT_EQ(rule_of("no"), "cancelled");
  EXPECT_EQ(store_.history().at(0).status, LoopStatus::kCancelled);
  EXPECT_EQ(store_.history().at(0).decisions.size(), 2U);
}

TEST_F(StopTest, ACancelInTheQueueOfAnotherSessionIsNotHeard) {
  start();
  const auto queue = [](std::string_view operation, std::string_view session, std::string_view line) {
    return fmt::format(R"({{"type":"queue-operation","operation":"{}","uuid":"u"{},"content":"{}"}})"
                       "\n",
                       operation, session.empty() ? "" : fmt::format(R"(,"sessionId":"{}")", session), line);
  };
  append(queue("enqueue", "s2", "/ralph:cancel"));
  EXPECT_EQ(rule_of("no"), "promise_missing");
  append(queue("enqueue", "s1", "/ralph:cancel") + queue("popAll", "s2", ""));
  EXPECT_EQ(rule_of("no"), "cancelled") << "what another session takes out of its queue is not this one's";
  start();
  append(queue("enqueue", "", "/ralph:cancel"));
  EXPECT_EQ(rule_of("no"), "cancelled") << "nobody's name on it";
}

TEST_F(StopTest, TheSameStopIsJudgedOnce) {
  start();
  StopRequest stop = payload("no");
  stop.prompt_id = "p1";
  EXPECT_EQ(rule_of(stop), "promise_missing");
  // The host writes the text late, but the first hook's answer before the second hook has ended.
  append(says("no", R"(,"timestamp":"2026-01-01T00:00:00.000Z")"));
  append(R"({"type":"user","sessionId":"s1","message":{"role":"user","content":"Stop hook feedback"}})"
         "\n");
  EXPECT_EQ(rule_of(stop), "no loop") << "a second hook passes";
  append(says("no", R"(,"timestamp":"2126-01-01T00:00:00.000Z")"));
  EXPECT_EQ(rule_of(stop), "promise_missing");
  append(says("no", R"(,"timestamp":"2126-01-01T00:00:00.000Z")"));
  stop.called = [] { return WallTime{}; };
  EXPECT_EQ(rule_of(stop), "no loop") << "called before the last decision";
  stop.called = nullptr;
  stop.prompt_id = "p2";
  EXPECT_EQ(rule_of(stop), "promise_missing") << "the user has typed a line since";
}

TEST_F(StopTest, ARecordedRolloutOfCodexIsUnderstood) {
  start();
  append(read_file((fixtures_folder() / "hooks/codex/rollout.jsonl").string()).value());
  EXPECT_EQ(rule_of("going on"), "promise_accepted") << "it has calls, and its assistant has promised";
}

}  // namespace
}  // namespace ralph
