#include "engine/prompt.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(ComposePrompt, PutsFeedbackWhereItsActionSays) {
  using enum FailAction;
  struct Row {
    const char* situation;
    std::vector<Feedback> feedback;
    std::string_view prompt;
  };
  const Row rows[] = {
      {"nothing failed", {}, "BASE"},
      {"after it", {{kAppend, "a"}}, "BASE\n\na"},
      {"before it", {{kPrepend, "p"}}, "p\n\nBASE"},
      {"in its place", {{kReplace, "r"}}, "r"},
      {"each in their order",
       {{kAppend, "a1"}, {kAppend, "a2"}, {kPrepend, "p1"}, {kPrepend, "p2"}},
       "p1\n\np2\n\nBASE\n\na1\n\na2"},
      {"several in its place", {{kReplace, "r1"}, {kReplace, "r2"}}, "r1\n\nr2"},
      {"all of them at once", {{kAppend, "a"}, {kReplace, "r"}, {kPrepend, "p"}}, "p\n\nr\n\na"},
      {"braces are no template", {{kAppend, "{} {0} %s"}}, "BASE\n\n{} {0} %s"},
  };
  for (const Row& row : rows) EXPECT_EQ(compose_prompt("BASE", row.feedback), row.prompt) << row.situation;
}

TEST(ComposePrompt, PartsAreTwoNewlinesApartWhateverTheyEndWith) {
  using enum FailAction;
  const std::vector<Feedback> feedback = {{kPrepend, "p\n"}, {kAppend, "a\r\n\n\n"}, {kAppend, "b\n"}};
  EXPECT_EQ(compose_prompt("BASE\n", feedback), "p\n\nBASE\n\na\n\nb\n");
}

TEST(ComposePrompt, KeepsTheBasePromptToTheByte) {
  EXPECT_EQ(compose_prompt(" a\n\n", {}), " a\n\n");
}

TEST(WithIterationCount, SaysHowManyRemain) {
  EXPECT_EQ(with_iteration_count("Do it.", 1, 10), "Iteration 1 of 10, 9 remaining.\n\nDo it.");
  EXPECT_EQ(with_iteration_count("Do it.", 10, 10), "Iteration 10 of 10, 0 remaining.\n\nDo it.");
}

}  // namespace
}  // namespace ralph
