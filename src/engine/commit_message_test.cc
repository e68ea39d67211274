#include "engine/commit_message.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

struct Row {
  const char* situation;
  std::string answer;
  std::optional<std::string> tagged;
  std::optional<std::string> message;
};

TEST(CommitMessageFrom, FollowsItsTable) {
  const Row rows[] = {
      {"one line", "Fix the build\n", {}, "Fix the build"},
      {"the first line that is not blank", "\n  \n  Fix the build \nIt was broken.\n", {}, "Fix the build"},
      {"the tag outranks the first line", "Here it is:\n<response>Fix it</response>", "Fix it", "Fix it"},
      {"blanks in the tag", "x", "  Fix it  ", "Fix it"},
      {"a code fence around it", "```\nFix it\n```", {}, "Fix it"},
      {"a code fence with a language", "~~~text\nFix it\n~~~", {}, "Fix it"},
      {"double quotes", "\"Fix it\"", {}, "Fix it"},
      {"single quotes", "'Fix it'", {}, "Fix it"},
      {"backticks", "`Fix it`", {}, "Fix it"},
      {"bold", "**Fix it**", {}, "Fix it"},
      {"quotes inside stay", "Fix \"it\"", {}, "Fix \"it\""},
      {"a quote at one end stays", "\"Fix\" it", {}, "\"Fix\" it"},
      {"stream JSON is passed over", "{\"type\":\"init\"}\n{\"type\":\"text\"}\nFix it", {}, "Fix it"},
      {"what only looks like it is not", "{braces} are fixed\n", {}, "{braces} are fixed"},
      {"what is no JSON is not", "{fix it}", {}, "{fix it}"},
      {"colours are taken off", "\033[1;32mFix it\033[0m", {}, "Fix it"},
      {"a line of colours alone is blank", "\033[0m\nFix it", {}, "Fix it"},
      {"control characters become blanks", "Fix\tit\x07now\x7f", {}, "Fix it now"},
      {"NUL too", std::string("Fix\0it", 6), {}, "Fix it"},
      {"a carriage return at the end", "Fix it\r\nmore", {}, "Fix it"},
      {"bytes that are no UTF-8", "Fix \xFFit", {}, "Fix \uFFFDit"},
      {"other letters", "Behebe Überlauf 日本", {}, "Behebe Überlauf 日本"},
      {"a dash at the beginning stays: it is passed as an argument", "-m x", {}, "-m x"},
      {"nothing", "", {}, std::nullopt},
      {"blank lines", " \n\t\n", {}, std::nullopt},
      {"nothing but fences", "```\n```", {}, std::nullopt},
      {"nothing but JSON", "{\"a\":1}\n", {}, std::nullopt},
      {"an empty tag and another line", "<response></response>\nFix it", "", "Fix it"},
      {"an empty tag alone", "<response> </response>", " ", std::nullopt},
  };
  for (const Row& row : rows) EXPECT_EQ(commit_message_from(row.answer, row.tagged), row.message) << row.situation;
}

TEST(CommitMessageRequest, AsksInTheSeedsWords) {
  EXPECT_EQ(kCommitMessageRequest,
            "Provide a short imperative commit message for the changes. Output only the message, no explanation.");
}

}  // namespace
}  // namespace ralph
