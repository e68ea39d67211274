#include "session/contract.h"

#include <gtest/gtest.h>

#include "engine/response.h"
#include "session/loop_state.h"

namespace ralph {
namespace {

LoopState state_with(std::string task, bool ultrawork = false) {
  LoopState state;
  state.request.task = std::move(task);
  state.request.max_iterations = 7;
  state.request.ultrawork = ultrawork;
  state.iteration = 2;
  return state;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

TEST(Contract, SaysTheTaskTheRuleAndItsStrictness) {
  const std::string text = prompt_contract(state_with("fix `it`\n---\n$(now)").request);
  EXPECT_TRUE(contains(text, "Task:\nfix `it`\n---\n$(now)\n"));
  EXPECT_TRUE(contains(text, "Only when the task is fully done"));
  EXPECT_TRUE(contains(text, "the completion promise <promise>DONE</promise> alone on a line.\n"));
  EXPECT_TRUE(contains(text, "no whitespace inside the tag, no variants"));
  EXPECT_TRUE(contains(text, "If the task is not done, do not output the promise"));
  EXPECT_TRUE(contains(text, "for at most 7 iterations"));
}

TEST(Contract, UsesThePromiseThatWasAskedFor) {
  LoopRequest request;
  request.task = "x";
  request.promise = "ALL GOOD";
  EXPECT_EQ(promise_tag(request), "<promise>ALL GOOD</promise>");
  EXPECT_TRUE(contains(prompt_contract(request), "<promise>ALL GOOD</promise>"));
  EXPECT_FALSE(contains(prompt_contract(request), "DONE"));
}

TEST(Continuation, SaysWhatWasMissingAndRepeatsTheTask) {
  EXPECT_EQ(continuation(state_with("fix it").request, 2, "promise_missing", 0),
            "[ralph loop: iteration 2 of 7]\n"
            "You attempted to end the loop, but you did not output the completion promise <promise>DONE</promise>. "
            "Continue working on the original task below. Only output the promise when the task is fully complete.\n\n"
            "Original task:\nfix it");
}

TEST(Continuation, SaysThatAPromiseHadNoWorkBehindIt) {
  const std::string text = continuation(state_with("fix it").request, 2, "promise_without_work", 0);
  EXPECT_TRUE(contains(text,
                       "Promise detected, but no tool calls/work were performed; you must actually complete the task "
                       "before emitting the promise <promise>DONE</promise>."));
  EXPECT_TRUE(text.ends_with("Original task:\nfix it"));
}

TEST(Contract, SaysHowManyToolCallsAPromiseNeeds) {
  LoopState state = state_with("x");
  EXPECT_TRUE(contains(prompt_contract(state.request), "- A promise without work does not count."));
  EXPECT_TRUE(contains(continuation(state.request, static_cast<int>(state.iteration), "promise_without_work", 0, 0),
                       "but no tool calls/work were performed;"));
  state.request.min_tool_calls = 3;
  EXPECT_TRUE(contains(prompt_contract(state.request), "- A promise after fewer than 3 tool calls does not count."));
  EXPECT_TRUE(contains(continuation(state.request, static_cast<int>(state.iteration), "promise_without_work", 0, 2),
                       "Promise detected, but only 2 of at least 3 tool calls were performed; you must"));
}

TEST(Continuation, TellsOfTasksInTheBackground) {
  EXPECT_TRUE(
      contains(continuation(state_with("x").request, 2, "promise_missing", 1), "One task of yours is still running"));
  EXPECT_TRUE(
      contains(continuation(state_with("x").request, 2, "promise_missing", 3), "3 tasks of yours are still running"));
  EXPECT_FALSE(contains(continuation(state_with("x").request, 2, "promise_missing", 0), "background"));
}

TEST(Continuation, OfUltraworkBeginsWithItsInstructionEveryTime) {
  for (const std::string_view rule : {"promise_missing", "promise_without_work"}) {
    const std::string plain = continuation(state_with("x").request, 2, rule, 0);
    const std::string ultra = continuation(state_with("x", true).request, 2, rule, 0);
    EXPECT_TRUE(ultra.starts_with("ULTRAWORK MODE: "));
    EXPECT_TRUE(ultra.ends_with(plain)) << "all else is the same";
  }
}

// Echoing ralph's own texts is not a promise.
TEST(Contract, RepeatedIsNoPromise) {
  const LoopState state = state_with("Fix it all, and when you have done so say <promise>DONE</promise>");
  const std::string told = prompt_contract(state.request) + "\n" +
                           continuation(state.request, static_cast<int>(state.iteration), "promise_missing", 0);
  ResponseFinder finder(told, "DONE");
  finder.feed(told);
  finder.finish();
  EXPECT_FALSE(finder.response().has_value());
  EXPECT_FALSE(finder.mentioned());
}

}  // namespace
}  // namespace ralph
