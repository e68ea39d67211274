#include "session/loop_state.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

LoopState full_state() {
  LoopState state;
  state.request = {"a \"task\"\n--- with ü and $(x)", "FINE", 7, 3, PromiseWithoutWork::kWarn, true};
  state.session = "s-1";
  state.status = LoopStatus::kMaxIterationsReached;
  state.iteration = 4;
  state.started = "2026-11-15T18:23:37.302Z";
  state.updated = "2026-11-15T19:23:37.302Z";
  state.transcript = "/t/x.jsonl";
  state.transcript_start = 5'000'000'000;
  state.transcript_read = 5'000'000'123;
  state.transcript_calls = 12;
  state.recent_calls = {"toolu_1", "toolu_2"};
  state.tree = "0123456789abcdef";
  state.reason = "7 iterations done without the promise";
  state.decisions = {{"2026-11-15T18:30:00.000Z", 1, "continue", "promise_missing", "the promise is missing"}};
  return state;
}

std::string text_of(const LoopState& state) {
  return json::serialize(to_json(state));
}

Result<LoopState> read(std::string_view text) {
  return loop_state_from(text, ".ralph/loop/s.json");
}

TEST(LoopState, ComesBackAsItWasWritten) {
  const LoopState state = full_state();
  const auto back = read(text_of(state));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_EQ(text_of(*back), text_of(state));
  EXPECT_EQ(back->request.task, state.request.task);
  EXPECT_EQ(back->request.on_promise_no_work, PromiseWithoutWork::kWarn);
  EXPECT_EQ(back->transcript_read, 5'000'000'123U);
  EXPECT_EQ(back->decisions.at(0).rule, "promise_missing");
  EXPECT_EQ(back->recent_calls, state.recent_calls);
  EXPECT_FALSE(back->active());
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

TEST(LoopState, OfAnotherVersionIsNotGuessedAt) {
  json::object object = to_json(full_state());
  object["v"] = 2;
  const auto state = read(json::serialize(object));
  ASSERT_FALSE(state.has_value());
  EXPECT_EQ(state.error().message, ".ralph/loop/s.json has format 2, which this version of ralph does not know");
}

TEST(LoopState, DamagedIsAnErrorThatNamesTheFile) {
  const std::string whole = text_of(full_state());
  for (size_t length = 0; length < whole.size(); length += 7) {
    const auto state = read(whole.substr(0, length));
    ASSERT_FALSE(state.has_value()) << length;
    EXPECT_NE(state.error().message.find(".ralph/loop/s.json"), std::string::npos) << state.error().message;
  }
  for (const std::string_view text :
       {"{}", "[]", "null", "7", R"({"v":1})", R"({"v":1,"completionPromise":"D","maxIterations":0})",
        R"({"v":1,"completionPromise":"","maxIterations":5})", R"({"v":"1"})"}) {
    EXPECT_FALSE(read(text).has_value()) << text;
  }
}

TEST(LoopState, WhatIsOfAnotherTypeTakesItsDefault) {
  const auto state =
      read(R"({"v":1,"completionPromise":"D","maxIterations":5,"status":"WHAT","session":7,"task":[],"iteration":"x",)"
           R"("recentCalls":[1,"a",null],"decisions":[1,{"rule":2}],"onPromiseNoWork":null,"unknown":{"x":1}})");
  ASSERT_TRUE(state.has_value());
  EXPECT_TRUE(state->active());
  EXPECT_EQ(state->request.min_tool_calls, 1);
  EXPECT_EQ(state->request.on_promise_no_work, PromiseWithoutWork::kReject);
  EXPECT_EQ(state->recent_calls, std::vector<std::string>{"a"});
  EXPECT_EQ(state->decisions.size(), 2U);
}

TEST(LoopState, NumbersOutsideTheirRangeAreDamage) {
  for (const std::string_view number : {"-1", "99999999999", "4294967301"}) {
    EXPECT_FALSE(read(fmt::format(R"({{"v":1,"completionPromise":"D","maxIterations":{}}})", number)).has_value())
        << number;
  }
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
