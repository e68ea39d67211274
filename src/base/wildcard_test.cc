#include "base/wildcard.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(Wildcard, MatchesAsAShellDoes) {
  struct Row {
    std::string_view pattern, text;
    bool plain, with_sets;
  };
  const Row rows[] = {
      {"", "", true, true},           {"*", "", true, true},           {"*.cc", "a.cc", true, true},
      {"*.cc", "a.c", false, false},  {"a?c", "abc", true, true},      {"a?c", "ac", false, false},
      {"a*b*c", "aXbYc", true, true}, {"a*b", "acb", true, true},      {"a*b", "acbd", false, false},
      {"[a-c]x", "bx", false, true},  {"[!a-c]x", "bx", false, false}, {"[!a-c]x", "dx", false, true},
      {"[a-c", "[a-c", true, true},   {"[a]*", "abc", false, true},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(matches_wildcard(row.pattern, row.text), row.plain) << row.pattern << " " << row.text;
    EXPECT_EQ(matches_wildcard(row.pattern, row.text, true), row.with_sets) << row.pattern << " " << row.text;
  }
}

}  // namespace
}  // namespace ralph
