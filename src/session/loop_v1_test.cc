#include "session/loop_v1.h"

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

LoopState full_state() {
  LoopState state;
  state.request = {"a \"task\"\n--- with ü and $(x)", {}, "FINE", 7, 3, 3, PromiseWithoutWork::kWarn, true};
  state.host.session = "s-1";
  state.status = LoopStatus::kMaxIterationsReached;
  state.iteration = 4;
  state.host.since = *from_iso8601("2026-11-15T18:23:37.302Z");
  state.updated = "2026-11-15T19:23:37.302Z";
  state.host.transcript = "/t/x.jsonl";
  state.host.transcript_start = 5'000'000'000;
  state.host.transcript_read = 5'000'000'123;
  state.host.transcript_calls = 12;
  state.host.recent_calls = {"toolu_1", "toolu_2"};
  state.host.tree = "0123456789abcdef";
  state.reason = "7 iterations done without the promise";
  state.decisions = {{"2026-11-15T18:30:00.000Z", 1, "continue", "promise_missing", "the promise is missing"}};
  return state;
}

// The format of version 0.1.
std::string text_of(const LoopState& state) {
  json::object object = to_json(state);
  object["v"] = 1;
  return json::serialize(object);
}

std::optional<LoopState> read(std::string_view text) {
  const ScratchFolder folder;
  ScratchFolder::write(folder / "s.json", std::string(text));
  return read_loop_v1(folder / "s.json");
}

TEST(LoopState, ComesBackAsItWasWritten) {
  const LoopState state = full_state();
  const auto back = read(text_of(state));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(text_of(*back), text_of(state));
  EXPECT_EQ(back->request.task, state.request.task);
  EXPECT_EQ(back->request.on_promise_no_work, PromiseWithoutWork::kWarn);
  EXPECT_EQ(back->host.transcript_read, 5'000'000'123U);
  EXPECT_EQ(back->decisions.at(0).rule, "promise_missing");
  EXPECT_EQ(back->host.recent_calls, state.host.recent_calls);
  EXPECT_FALSE(back->active());
}

TEST(LoopState, IsAsTheLastLineOfItsLogSays) {
  const ScratchFolder folder;
  LoopState state = full_state();
  state.status = LoopStatus::kActive;
  ScratchFolder::write(folder / "s.json", text_of(state));
  ScratchFolder::write(folder / "s.jsonl",
                       R"({"time":"2026-11-15T20:00:00.000Z","status":"ACTIVE","iteration":5,"recentCalls":["x"]})"
                       "\n{\"iteration\":6,\"cut of");
  const auto back = read_loop_v1(folder / "s.json");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->iteration, 5);
  EXPECT_EQ(back->host.recent_calls, std::vector<std::string>{"x"});
  EXPECT_EQ(back->updated, "2026-11-15T20:00:00.000Z");
}

TEST(LoopState, StatusesHaveTheirNames) {
  EXPECT_EQ(to_string(LoopStatus::kActive), "ACTIVE");
  EXPECT_EQ(to_string(LoopStatus::kPromiseAccepted), "PROMISE_ACCEPTED");
  EXPECT_EQ(to_string(LoopStatus::kMaxIterationsReached), "MAX_ITERATIONS_REACHED");
  EXPECT_EQ(to_string(LoopStatus::kCancelled), "CANCELLED");
  EXPECT_EQ(to_string(PromiseWithoutWork::kReject), "reject");
  EXPECT_EQ(to_string(PromiseWithoutWork::kWarn), "warn");
  EXPECT_EQ(to_string(PromiseWithoutWork::kAccept), "accept");
}

TEST(LoopState, OfAnotherVersionIsRefused) {
  EXPECT_FALSE(read(json::serialize(to_json(full_state()))).has_value());
}

TEST(LoopState, DamagedIsNone) {
  const std::string whole = text_of(full_state());
  for (size_t length = 0; length < whole.size(); length += 7) EXPECT_FALSE(read(whole.substr(0, length))) << length;
  for (const std::string_view text : {"{}", "[]", "null", "7", R"({"v":1,"completionPromise":"D","maxIterations":0})",
                                      R"({"v":1,"completionPromise":"","maxIterations":5})", R"({"v":"1"})"}) {
    EXPECT_FALSE(read(text).has_value()) << text;
  }
}

TEST(LoopState, AMemberOfTheWrongTypeGetsItsDefault) {
  const auto state =
      read(R"({"v":1,"completionPromise":"D","maxIterations":5,"status":"WHAT","session":7,"task":[],"iteration":"x",)"
           R"("recentCalls":[1,"a",null],"decisions":[1,{"rule":2}],"onPromiseNoWork":null,"unknown":{"x":1}})");
  ASSERT_TRUE(state.has_value());
  EXPECT_TRUE(state->active());
  EXPECT_EQ(state->request.min_tool_calls, 1);
  EXPECT_EQ(state->request.on_promise_no_work, PromiseWithoutWork::kReject);
  EXPECT_EQ(state->host.recent_calls, std::vector<std::string>{"a"});
}

TEST(LoopState, GivesDecideItsPolicy) {
  const Policy policy = policy_of(full_state().request);
  EXPECT_EQ(policy.max_iterations, 7);
  EXPECT_EQ(policy.completion_response, "FINE");
  EXPECT_TRUE(policy.promise);
  EXPECT_EQ(policy.min_tool_calls, 3);
  EXPECT_EQ(policy.on_promise_no_work, PromiseWithoutWork::kWarn);
}

}  // namespace
}  // namespace ralph
