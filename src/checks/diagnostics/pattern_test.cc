#include "checks/diagnostics/pattern.h"

#include <gtest/gtest.h>

namespace ralph::diagnostics {
namespace {

std::string matched(std::string_view expression, std::string_view line,
                    LinePattern::Group group = LinePattern::kMessage) {
  const auto pattern = LinePattern::compile(expression);
  if (!pattern) return pattern.error().message;
  const auto match = pattern->match(line);
  return match ? std::string((*match)[group]) : "(no match)";
}

TEST(Pattern, GroupsOfALine) {
  const char* expression =
      R"(^(?<file>[^:]+):(?<line>\d+):(?:(?<column>\d+):)? (?<severity>error|warning): (?<message>.*)$)";
  EXPECT_EQ(matched(expression, "src/a.c:12:3: warning: odd", LinePattern::kFile), "src/a.c");
  EXPECT_EQ(matched(expression, "src/a.c:12:3: warning: odd", LinePattern::kLine), "12");
  EXPECT_EQ(matched(expression, "src/a.c:12:3: warning: odd", LinePattern::kColumn), "3");
  EXPECT_EQ(matched(expression, "src/a.c:12: warning: odd", LinePattern::kColumn), "");
  EXPECT_EQ(matched(expression, "src/a.c:12: warning: odd", LinePattern::kSeverity), "warning");
  EXPECT_EQ(matched(expression, "src/a.c:12: warning: odd"), "odd");
  EXPECT_EQ(matched(expression, "src/a.c:x: warning: odd"), "(no match)");
}

TEST(Pattern, WhatItKnows) {
  EXPECT_EQ(matched("(?<message>a|bc|def)", "xxdefy"), "def");
  EXPECT_EQ(matched("(?<message>a|b|c|d)z", "bz"), "b");
  EXPECT_EQ(matched("(?<message>a*)b", "caab"), "aa");
  EXPECT_EQ(matched("<(?<message>.*?)>", "<a><b>"), "a");
  EXPECT_EQ(matched("<(?<message>.*)>", "<a><b>"), "a><b");
  EXPECT_EQ(matched("(?<message>x{2,3})", "xxxxx"), "xxx");
  EXPECT_EQ(matched("(?<message>x{2})y", "xxxy"), "xx");
  EXPECT_EQ(matched("(?<message>[a-c_\\]]+)", "zz_a]cd"), "_a]c");
  EXPECT_EQ(matched("(?P<message>\\w+)\\s+end", "the end"), "the");
  EXPECT_EQ(matched("(?<message>(?:ab|c)+)$", "xabcab"), "abcab");
  EXPECT_EQ(matched("(?<message>(x+x+)+)y", "xxxxy"), "xxxx");
}

TEST(Pattern, WhatIsWrongIsSaidWithItsPlace) {
  EXPECT_EQ(matched("a", "a"), "the pattern has no group (?<message>…), which says what was found");
  EXPECT_EQ(matched("(?<message>a", ""), "the pattern is wrong at character 13: a ( without its )");
  EXPECT_EQ(
      matched("(?<mesage>a)", ""),
      "the pattern is wrong at character 2: no group is called 'mesage': file, line, column, severity, rule, message");
  EXPECT_EQ(matched("a)", ""), "the pattern is wrong at character 2: a ) without its (");
  EXPECT_EQ(matched("[a", ""), "the pattern is wrong at character 3: a [ without its ]");
  EXPECT_EQ(matched("*a", ""), "the pattern is wrong at character 1: nothing to repeat");
  EXPECT_EQ(matched("(?<message>a{9999})", ""), "the pattern is wrong at character 13: too many repetitions");
  EXPECT_EQ(matched("(?<message>((((a{99}){99}){99}){99}))", "").substr(0, 20), "the pattern is wrong");
}

// An expression that takes exponential time in backtracking matchers, on lines that an agent chose.
TEST(Pattern, TakesLinearTime) {
  const auto pattern = LinePattern::compile("^(?<message>(a*)*b(x+x+)+y)$");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->match(std::string(1 << 20, 'a')));
  EXPECT_FALSE(pattern->match(std::string(1 << 20, 'x')));
}

TEST(Pattern, SeveritiesInAnyWords) {
  const std::string expression = "(?<severity>\\w+) (?<message>.*)";
  const auto parsed = parse_by_pattern({"WARN a\nInfo b\nfatal c\n", "warning d\n", 1}, expression);
  ASSERT_EQ(parsed.findings.size(), 4u);
  EXPECT_EQ(parsed.findings[0].severity, Severity::kWarning);
  EXPECT_EQ(parsed.findings[1].severity, Severity::kInfo);
  EXPECT_EQ(parsed.findings[2].severity, Severity::kError);
  EXPECT_EQ(parsed.findings[3].severity, Severity::kWarning);
  EXPECT_EQ(parse_by_pattern({"", "", 1}, expression).failure, "it failed");
  EXPECT_EQ(parse_by_pattern({"-\n", "", 1}, expression).failure, "no line fits its pattern");
  EXPECT_EQ(parse_by_pattern({"", "", 0}, expression).failure, "");
}

}  // namespace
}  // namespace ralph::diagnostics
