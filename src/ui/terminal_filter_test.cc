#include "ui/terminal_filter.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(TerminalFilter, PassesTextAndNothingThatControlsATerminal) {
  struct Row {
    std::string_view in, out;
  };
  const Row rows[] = {
      {"plain text\twith\r\nlines", "plain text\twith\r\nlines"},
      {"rm -rf /\rls", "rm -rf /\nls"},
      {"a\r\r\nb", "a\r\nb"},
      {"日本 é 👍", "日本 é 👍"},
      {"\033[2Jcleared\033[H", "cleared"},
      {"\033[31mred\033[0m", "red"},
      {"\033]0;title\atext", "text"},
      {"\033]0;title\033\\text", "text"},
      {"\033]52;c;aGk=\xC2\x9Ctext", "text"},
      {"\033]never ended\nnext line", "\nnext line"},
      {"\033]never ended\033[31mtext", "text"},
      {"\033P1$r\033\\text\033^x\033\\\033_y\033\\", "text"},
      {"\0337\033c\033(Btext\a\b\x7f", "text"},
      {"\xC2\x9B"
       "31mtext",
       "text"},  // C1, as UTF-8
      {"\x9B"
       "31mtext",
       "\xEF\xBF\xBD"
       "31mtext"},  // C1, as a byte: not UTF-8
      {"\xC2\033[m\x9B"
       "2J",
       "\xEF\xBF\xBD\xEF\xBF\xBD"
       "2J"},                                // must not merge
      {"\033\xE4\x9B\x80", "\xE4\x9B\x80"},  // half a character must not remain
      {"\033[1\xE4\x9B\x80", "\xE4\x9B\x80"},
      {"\033[12", ""},
      {"a\xE2\x80\xAE"
       "b\xE2\x81\xA7"
       "c\xE2\x80\x93",
       "abc\xE2\x80\x93"},
      {"cut \xE6\x97", "cut \xEF\xBF\xBD"},
      {"D\U000E0041E\U000E007F", "DE"},  // tags: invisible text
  };
  for (const Row& row : rows) EXPECT_EQ(without_controls(row.in), row.out) << row.in;
}

TEST(TerminalFilter, KeepsColoursWhereTheyAreWanted) {
  TerminalFilter filter(true);
  EXPECT_EQ(filter.feed("\033[1;38:5:200mred\033[0m\033[?25m\033[2J"), "\033[1;38:5:200mred\033[0m");
  EXPECT_EQ(filter.feed("\033[8mhidden\033[1;08mtoo\033[38;5;8mgrey\033[38;2;8;8;8mdark"),
            "hiddentoo\033[38;5;8mgrey\033[38;2;8;8;8mdark");
  EXPECT_EQ(filter.feed("\033[" + std::string(100, '1') + "mx"), "x");
}

TEST(TerminalFilter, DoesTheSameHoweverTheTextIsSplit) {
  const std::string text =
      "a\033[31mé日👍\033]0;t\033\\\xC2\x9B"
      "5m\xFF\xE6\x97x\033[2Jb\r\n";
  const std::string whole = without_controls(text);
  for (size_t piece = 1; piece < text.size(); ++piece) {
    TerminalFilter filter(false);
    std::string joined;
    for (size_t at = 0; at < text.size(); at += piece) joined += filter.feed(std::string_view(text).substr(at, piece));
    joined += filter.finish();
    EXPECT_EQ(joined, whole) << piece;
  }
}

// Long runs of plain text are handled at once, single bytes never are.
TEST(TerminalFilter, DoesNotDependOnHowTheBytesArrive) {
  const std::string pieces[] = {"a",
                                "plain text that is longer than sixteen bytes",
                                "\n",
                                "\t",
                                "\r",
                                "\r\n",
                                "\033[31m",
                                "\033",
                                "\033]0;x\007",
                                "\x7f",
                                "\x01",
                                "é",
                                "\xe2\x80\xae",
                                "\xff",
                                "\xc2\x9b",
                                "~ ~"};
  for (const std::string& first : pieces) {
    for (const std::string& second : pieces) {
      for (const std::string& third : pieces) {
        const std::string text = first + second + third + "the end of a text that is long enough";
        TerminalFilter at_once(true), by_bytes(true);
        std::string whole = at_once.feed(text), pieced;
        whole += at_once.finish();
        for (const char& byte : text) pieced += by_bytes.feed({&byte, 1});
        pieced += by_bytes.finish();
        ASSERT_EQ(whole, pieced) << text;
      }
    }
  }
}

}  // namespace
}  // namespace ralph
