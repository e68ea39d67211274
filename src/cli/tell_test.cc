#include "cli/tell.h"

#include <gtest/gtest.h>

namespace ralph::cli {
namespace {

TEST(BrokenBetweenWords, LeavesALineThatFits) {
  EXPECT_EQ(wrap_line("one two", 7), "one two");
  EXPECT_EQ(wrap_line("", 7), "");
  EXPECT_EQ(wrap_line("          ", 7), "          ");
}

TEST(BrokenBetweenWords, BreaksAtTheLastBlankThatFits) {
  EXPECT_EQ(wrap_line("one two three", 9), "one two\n  three");
  EXPECT_EQ(wrap_line("one two three", 7), "one two\n  three");
  EXPECT_EQ(wrap_line("  one two three", 8), "  one\n    two\n    three");
}

TEST(BrokenBetweenWords, KeepsWordsWholeAndBlanksAsTheyAre) {
  EXPECT_EQ(wrap_line("a verylongwordindeed b", 8), "a\n  verylongwordindeed\n  b");
  EXPECT_EQ(wrap_line("say  'a  b'  twice", 13), "say  'a  b' \n  twice");
}

TEST(BrokenBetweenWords, CountsColumnsAndNotBytes) {
  EXPECT_EQ(wrap_line("äöü äöü", 7), "äöü äöü");
  EXPECT_EQ(wrap_line("日本 日本", 7), "日本\n  日本");
}

}  // namespace
}  // namespace ralph::cli
