#include "base/simple_pattern.h"

#include <regex.h>
#include <string>

#include <gtest/gtest.h>

namespace ralph {
namespace {

// The C library's result; its dialect agrees with JSON Schema's on the patterns below.
bool matches_by_library(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  EXPECT_EQ(regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB), 0) << pattern;
  const bool matches = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return matches;
}

TEST(SimplePattern, AgreesWithARealRegularExpressionEngine) {
  const std::string patterns[] = {
      "\\S",    "^[A-Za-z_][A-Za-z0-9_]*$", "^[Aa][Bb]$",    "^a.?b+$", "b$", "^a", "[^ab]", "a*",
      "^a*b*$", "[0-9]+\\.[0-9]",           "^\\w+\\s\\w+$", "a[.]b"};
  const std::string texts[] = {"",    " ",  "\t\n", "a",   "b",   "ab",  "aB", "a b",
                               "_x9", "9x", "aab",  "abb", "a.b", "1.5", "a]"};
  for (const std::string& pattern : patterns) {
    for (const std::string& text : texts)
      EXPECT_EQ(matches_pattern(text, pattern).value(), matches_by_library(text, pattern))
          << "'" << text << "' and " << pattern;
  }
}

TEST(SimplePattern, KnowsDigitsAndEscapesInSets) {
  EXPECT_TRUE(matches_pattern("x7", "\\d").value());
  EXPECT_FALSE(matches_pattern("x", "\\d").value());
  EXPECT_TRUE(matches_pattern("a]", "^[a\\]]+$").value());
  EXPECT_TRUE(matches_pattern("a$", "\\$").value());
}

TEST(SimplePattern, RefusesWhatItDoesNotKnow) {
  for (std::string_view pattern : {"a|b", "(a)", "a{2}", "[a", "*a", "a^"}) {
    const auto result = matches_pattern("a", pattern);
    ASSERT_FALSE(result) << pattern;
    EXPECT_EQ(result.error().kind, ErrorKind::kInternal);
  }
}

TEST(SimplePattern, TakesAnyLengthOfText) {
  EXPECT_TRUE(matches_pattern(std::string(1'000'000, 'a'), "^[a-z]*$").value());
  EXPECT_FALSE(matches_pattern(std::string(1'000'000, ' '), "\\S").value());
}

}  // namespace
}  // namespace ralph
