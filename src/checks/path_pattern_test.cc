#include "checks/path_pattern.h"

#include <string>

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(MatchesPath, FollowsItsTable) {
  struct Row {
    const char* pattern;
    const char* path;
    bool matches;
  };
  constexpr Row kRows[] = {
      {"Makefile", "Makefile", true},
      {"Makefile", "src/Makefile", false},
      {"Makefile", "Makefile.old", false},
      {"**/Makefile", "Makefile", true},
      {"**/Makefile", "a/b/Makefile", true},
      {"tests/**", "tests/a.py", true},
      {"tests/**", "tests/a/b/c.py", true},
      {"tests/**", "tests", false},
      {"tests/**", "test/a.py", false},
      {"tests/**", "src/tests/a.py", false},
      {"tests", "tests/a/b.py", true},
      {"tests/", "tests/a/b.py", true},
      {"./tests", "tests/a/b.py", true},
      {"tests/*.py", "tests/a.py", true},
      {"tests/*.py", "tests/a/b.py", false},
      {"tests/*", "tests/a/b.py", true},  // the pattern names the folder tests/a
      {"tests/**/*.py", "tests/a.py", true},
      {"tests/**/*.py", "tests/x/y/a.py", true},
      {"tests/**/*.py", "tests/x/y/a.pyc", false},
      {"**", "a/b", true},
      {"*", "a", true},
      {"**/*_test.go", "pkg/x/a_test.go", true},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"a*b*c", "a__b__b__c", true},
      {"a*b*c", "a__b__b__", false},
      {"**/x/**/y", "1/x/2/x/3/y", true},
      {"**/x/**/y", "1/x/2/x/3", false},
      {"", "a", false},
      {"/", "a", false},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(matches_path(row.pattern, row.path), row.matches) << row.pattern << " " << row.path;
}

TEST(MatchesPath, DoesNotTakeForeverOnAHostilePattern) {
  std::string pattern, path;
  for (int i = 0; i < 200; ++i) pattern += "*a", path += "a";
  EXPECT_FALSE(matches_path(pattern + "b", path + path));
}

TEST(LiteralPart, IsWhereToLook) {
  EXPECT_EQ(literal_part("tests/unit/**/*.py"), "tests/unit");
  EXPECT_EQ(literal_part("tests/un*/x"), "tests");
  EXPECT_EQ(literal_part("*.py"), "");
  EXPECT_EQ(literal_part("**"), "");
  EXPECT_EQ(literal_part("./Makefile"), "Makefile");
  EXPECT_EQ(literal_part("tests/"), "tests");
}

}  // namespace
}  // namespace ralph
