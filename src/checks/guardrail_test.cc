#include "checks/guardrail.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace ralph {
namespace {

TEST(SlugOf, FollowsItsTable) {
  struct Row {
    std::string command, slug;
  };
  const Row rows[] = {
      {"./mvnw clean install -T 2C", "mvnw_clean_install_T_2C"},
      {"make test", "make_test"},
      {"make", "make"},
      {"  make -- test!  ", "make_test"},
      {"cargo test && cargo clippy -- -D warnings", "cargo_test_cargo_clippy_D_warnings"},
      {"a__b", "a_b"},
      {"../../etc/passwd", "etc_passwd"},
      {"prüfe", "pr_fe"},
      {"", "guardrail"},
      {"!!!", "guardrail"},
      {"日本", "guardrail"},
      {std::string(60, 'a'), std::string(50, 'a')},
      {std::string(49, 'a') + " b", std::string(49, 'a')},
      {std::string(48, 'a') + " b c", std::string(48, 'a') + "_b"},
  };
  for (const Row& row : rows) EXPECT_EQ(slug_of(row.command), row.slug) << row.command;
}

TEST(LogName, IsGivenOnceEach) {
  std::set<std::string> taken;
  EXPECT_EQ(log_name(3, "make test", taken), "guardrail_3_make_test.log");
  EXPECT_EQ(log_name(3, "make  test", taken), "guardrail_3_make_test_1.log");
  EXPECT_EQ(log_name(3, "make-test", taken), "guardrail_3_make_test_2.log");
  EXPECT_EQ(log_name(3, "make lint", taken), "guardrail_3_make_lint.log");
  EXPECT_EQ(log_name(4, "make test", taken), "guardrail_4_make_test.log");
}

TEST(LogName, AvoidsACommandThatLooksNumbered) {
  std::set<std::string> taken;
  EXPECT_EQ(log_name(1, "check 1", taken), "guardrail_1_check_1.log");
  EXPECT_EQ(log_name(1, "check", taken), "guardrail_1_check.log");
  EXPECT_EQ(log_name(1, "check!", taken), "guardrail_1_check_2.log");
  EXPECT_EQ(taken.size(), 3U);
}

TEST(GuardrailLaunch, IsTheCommandInAShellWithOneStream) {
  Environment environment;
  environment.set("A", "1");
  const Launch launch = guardrail_launch("make test | tee 'my log'", environment, "/project");
  EXPECT_EQ(launch.argv, (std::vector<std::string>{"/bin/sh", "-c", "make test | tee 'my log'"}));
  EXPECT_EQ(launch.environment.as_lines(), std::vector<std::string>{"A=1"});
  EXPECT_EQ(launch.folder, "/project");
  EXPECT_TRUE(launch.merge_streams);
  EXPECT_EQ(launch.input, "");
}

GuardrailFailure failure() {
  GuardrailFailure failure;
  failure.command = "make test";
  failure.exit_code = 2;
  failure.log_file = ".ralph/guardrail_1_make_test.log";
  failure.output = "1 failed\n";
  return failure;
}

TEST(FailureMessage, HasTheFormatOfTheGuide) {
  EXPECT_EQ(failure_message(failure()),
            "Guardrail \"make test\" failed with exit code 2.\n"
            "Output file: .ralph/guardrail_1_make_test.log\n"
            "Output (truncated):\n"
            "1 failed\n");
}

TEST(FailureMessage, SaysTheHintAsItIs) {
  GuardrailFailure with_hint = failure();
  with_hint.hint = "Run {} first; see %s";
  EXPECT_EQ(failure_message(with_hint),
            "Guardrail \"make test\" failed with exit code 2.\n"
            "Hint: Run {} first; see %s\n"
            "Output file: .ralph/guardrail_1_make_test.log\n"
            "Output (truncated):\n"
            "1 failed\n");
}

TEST(FailureMessage, SaysWhyInsteadOfAnExitCode) {
  GuardrailFailure late = failure();
  late.why = "timed out after 1m0s";
  EXPECT_TRUE(failure_message(late).starts_with("Guardrail \"make test\" timed out after 1m0s.\nOutput file: "));
}

TEST(FailureMessage, MarksOutputThatWasCutAndNoOther) {
  GuardrailFailure cut = failure();
  cut.output = "1 fai";
  cut.truncated = true;
  EXPECT_TRUE(failure_message(cut).ends_with("Output (truncated):\n1 fai... [truncated]"));
  EXPECT_EQ(failure_message(failure()).find("[truncated]"), std::string::npos);
}

TEST(OutputExcerpt, KeepsTheFirstCharactersAndKnowsWhetherThereWereMore) {
  struct Row {
    const char* situation;
    std::string output;
    size_t limit;
    std::string text;
    bool truncated;
  };
  const Row rows[] = {
      {"nothing", "", 5, "", false},
      {"less", "abc", 5, "abc", false},
      {"just as much", "abcde", 5, "abcde", false},
      {"one more", "abcdef", 5, "abcde", true},
      {"characters count, not bytes", "ééééé", 5, "ééééé", false},
      {"one character more", "éééééé", 5, "ééééé", true},
      {"the widest ones", "😀😀😀😀😀", 5, "😀😀😀😀😀", false},
      {"one byte after the widest ones", "😀😀😀😀😀x", 5, "😀😀😀😀😀", true},
      {"a wide one at the cut", "abcd😀e", 5, "abcd😀", true},
      {"far more", std::string(100'000, 'x'), 5, "xxxxx", true},
      {"bytes that are no text", "\xFF\xFE", 5, "\uFFFD\uFFFD", false},
      {"half a character at the end", "ab\xE2\x82", 5, "ab\uFFFD\uFFFD", false},
      {"nothing may be kept", "a", 0, "", true},
  };
  for (const Row& row : rows) {
    for (size_t piece : {size_t{1}, size_t{3}, row.output.size() + 1}) {
      OutputExcerpt excerpt(row.limit);
      for (size_t at = 0; at < row.output.size(); at += piece) {
        excerpt.feed(std::string_view(row.output).substr(at, piece));
      }
      EXPECT_EQ(excerpt.text(), row.text) << row.situation << " in pieces of " << piece;
      EXPECT_EQ(excerpt.truncated(), row.truncated) << row.situation << " in pieces of " << piece;
    }
  }
}

TEST(OutputExcerpt, IsValidUtf8WhereverItIsCut) {
  const std::string output = "aé€😀\xFFz日\xF0\x9F本";
  for (size_t limit = 0; limit < output.size() + 2; ++limit) {
    OutputExcerpt excerpt(limit);
    excerpt.feed(output);
    EXPECT_EQ(find_invalid_utf8(excerpt.text()), std::string::npos) << limit;
    EXPECT_TRUE(to_valid_utf8(output).starts_with(excerpt.text())) << limit;
  }
}

}  // namespace
}  // namespace ralph
