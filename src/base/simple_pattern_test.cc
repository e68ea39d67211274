#include "base/simple_pattern.h"

#include <regex>
#include <string>

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(SimplePattern, AgreesWithARealRegularExpressionEngine) {
  const std::string patterns[] = {"\\S",
                                  "^[A-Za-z_][A-Za-z0-9_]*$",
                                  "^[Aa][Bb]$",
                                  "^a.?b+$",
                                  "b$",
                                  "^a",
                                  "[^ab]",
                                  "a*",
                                  "^a*b*$",
                                  "\\d+\\.\\d",
                                  "^\\w+\\s\\w+$",
                                  "a[.]b",
                                  "^[a\\]]+$"};
  const std::string texts[] = {"",    " ",  "\t\n", "a",   "b",   "ab",  "aB", "a b",
                               "_x9", "9x", "aab",  "abb", "a.b", "1.5", "a]"};
  for (const std::string& pattern : patterns) {
    for (const std::string& text : texts)
      EXPECT_EQ(matches_pattern(text, pattern).value(), std::regex_search(text, std::regex(pattern)))
          << "'" << text << "' and " << pattern;
  }
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
