#include "base/utf8.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

constexpr size_t kNone = std::string_view::npos;

TEST(FindInvalidUtf8, KnowsEveryWayToBeWrong) {
  struct Row {
    const char* name;
    std::string_view text;
    size_t at;
  };
  const Row rows[] = {
      {"nothing", "", kNone},
      {"ASCII with control characters", std::string_view("a\0\x7f\n", 4), kNone},
      {"one to four bytes", "aé€😀", kNone},
      {"the last code point", "\xF4\x8F\xBF\xBF", kNone},
      {"beyond it", "a\xF4\x90\x80\x80", 1},
      {"a lone continuation", "ab\x80", 2},
      {"a lead alone at the end", "ab\xC3", 2},
      {"a lead before ASCII", "\xC3(", 0},
      {"three bytes cut short", "é\xE2\x82", 2},
      {"four bytes cut short", "\xF0\x9F\x98", 0},
      {"an overlong slash", "\xC0\xAF", 0},
      {"an overlong slash of three bytes", "\xE0\x80\xAF", 0},
      {"a surrogate", "x\xED\xA0\xBD", 1},
      {"a byte that never occurs", "\xFF", 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(find_invalid_utf8(row.text), row.at) << row.name;
    EXPECT_EQ(find_invalid_utf8(to_valid_utf8(row.text)), kNone) << row.name;
    EXPECT_EQ(to_valid_utf8(row.text) == row.text, row.at == kNone) << row.name;
  }
}

TEST(FirstCharacter, ReadsBackWhatIsWritten) {
  for (unsigned long code = 0; code <= 0x10FFFF; code += code < 0x1000 ? 1 : 0xFF) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const Character found = first_character(text);
    ASSERT_EQ(static_cast<unsigned long>(found.code), code);
    ASSERT_EQ(found.bytes, text.size()) << code;
    ASSERT_EQ(utf8_length(text[0]), text.size()) << code;
    for (size_t cut = 1; cut < text.size(); ++cut) ASSERT_EQ(unfinished_utf8(text.substr(0, cut)), cut) << code;
    ASSERT_EQ(unfinished_utf8(text), 0U) << code;
  }
}

TEST(AppendUtf8, WritesAMarkForWhatIsNoCharacter) {
  for (const unsigned long code : {0xD800UL, 0xDFFFUL, 0x110000UL, 0xFFFFFFFFUL}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(text, kReplacementCharacter) << code;
  }
}

TEST(UnfinishedUtf8, IsWhatMayStillBecomeACharacter) {
  EXPECT_EQ(unfinished_utf8(""), 0U);
  EXPECT_EQ(unfinished_utf8("a\xF0\x9F\x98"), 3U);
  EXPECT_EQ(unfinished_utf8("a\xFF"), 0U);
  EXPECT_EQ(unfinished_utf8("a\xC1"), 0U);
  EXPECT_EQ(unfinished_utf8("\x80\x80\x80\x80"), 0U);
}

TEST(ToValidUtf8, PutsOneMarkForEachInvalidByte) {
  EXPECT_EQ(to_valid_utf8("a\xFF\xFE"
                          "b"),
            "a\uFFFD\uFFFDb");
  EXPECT_EQ(to_valid_utf8("\xE2\x82"), "\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xC3(é"), "\uFFFD(é");
}

TEST(PrefixOfCharacters, NeverCutsACharacter) {
  const std::string_view text = "aé€😀z";
  const std::string_view prefixes[] = {"", "a", "aé", "aé€", "aé€😀", "aé€😀z", "aé€😀z"};
  for (size_t n = 0; n < std::size(prefixes); ++n) EXPECT_EQ(prefix_of_characters(text, n), prefixes[n]) << n;
}

TEST(PrefixOfCharacters, CountsAnInvalidByteAsOne) {
  EXPECT_EQ(prefix_of_characters("\xFF\xC3(x", 2), "\xFF\xC3");
  EXPECT_EQ(prefix_of_characters("\xFF\xC3(x", 3), "\xFF\xC3(");
}

TEST(SizeOf, CountsLinesAndCharacters) {
  struct Row {
    std::string text;
    size_t lines, characters;
  };
  const Row rows[] = {
      {"", 0, 0}, {"a", 1, 1}, {"a\n", 1, 2}, {"\n\nä€😀", 3, 5}, {std::string(33, '\n') + "ü", 34, 34}};
  for (const Row& row : rows) {
    EXPECT_EQ(size_of(row.text).lines, row.lines) << row.text;
    EXPECT_EQ(size_of(row.text).characters, row.characters) << row.text;
  }
}

TEST(DisplayWidth, CountsColumns) {
  struct Row {
    std::string_view text;
    size_t columns;
  };
  const Row rows[] = {
      {"", 0},   {"abc", 3},          {"é", 1},    {"e\u0301", 1}, {"世界", 4},
      {"😀", 2}, {"a\tb\x7f\033", 2}, {"\xFF", 1}, {"…✔", 2},
  };
  for (const Row& row : rows) EXPECT_EQ(display_width(row.text), row.columns) << row.text;
}

TEST(FitToWidth, CutsWithAnEllipsisAndNeverACharacter) {
  struct Row {
    std::string_view text;
    size_t columns;
    std::string_view line;
  };
  const Row rows[] = {
      {"abc", 3, "abc"},
      {"abcd", 3, "ab…"},
      {"abcd", 1, "…"},
      {"abcd", 0, ""},
      {"", 0, ""},
      {"世界", 4, "世界"},
      {"世界", 3, "世…"},
      {"世界", 2, "…"},
      {"a世界", 4, "a世…"},
      {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
      {"abé", 3, "abé"},
      {"abéé", 3, "ab…"},
      {"\xFF\xFE", 2, "\uFFFD\uFFFD"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(fit_to_width(row.text, row.columns), row.line) << row.text << " in " << row.columns;
    EXPECT_LE(display_width(fit_to_width(row.text, row.columns)), row.columns) << row.text;
  }
}

TEST(WrapWords, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrap_words("", 10, 0, 2), "");
  EXPECT_EQ(wrap_words("one two", 7, 0, 2), "one two");
  EXPECT_EQ(wrap_words("one two", 6, 0, 2), "one\n  two");
  EXPECT_EQ(wrap_words("one two three", 9, 4, 2), "one\n  two\n  three");
  EXPECT_EQ(wrap_words("a  word-that-is-too-long  b", 8, 0, 0), "a\nword-that-is-too-long\nb");
  EXPECT_EQ(wrap_words("日本 語", 6, 0, 1), "日本\n 語");
  EXPECT_EQ(wrap_words("lines\nare joined", 20, 0, 0), "lines are joined");
}

TEST(FitToWidth, ShowsControlCharactersAsBlanks) {
  EXPECT_EQ(fit_to_width("a\033[2Jb\r\n\tc\x7f\u009bd", 80), "a [2Jb   c  d");
  EXPECT_EQ(fit_to_width(std::string_view("a\0b", 3), 80), "a b");
  EXPECT_EQ(fit_to_width("\n\n\n", 2), " …");
  EXPECT_EQ(fit_to_width("a\u202eb\u2066c\u2028d\u200fe", 80), "a b c d e");
  EXPECT_EQ(printable_lines("one\033[2J\n\n\ttwo\r\n"), "one [2J\n\n two \n");
  EXPECT_EQ(printable_lines(""), "");
}

TEST(WithoutEscapes, LeavesNothingOfASequence) {
  EXPECT_EQ(without_escapes("plain"), "plain");
  EXPECT_EQ(without_escapes("\x1b[31mred\x1b[0m and \x1b[1;4munderlined\x1b[K"), "red and underlined");
  EXPECT_EQ(without_escapes("\x1b]0;a title\ahere"), "here");
  EXPECT_EQ(without_escapes("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ there"), "link there");
  EXPECT_EQ(without_escapes("cut \x1b[3"), "cut ");
  EXPECT_EQ(without_escapes("cut \x1b]0;title"), "cut ");
  EXPECT_EQ(without_escapes("cut \x1b"), "cut ");
}

TEST(FitDifference, ShowsWhatDiffers) {
  const auto both = [](std::string_view one, std::string_view other, size_t columns) {
    const Excerpts shown = fit_difference(one, other, columns);
    return shown.one + "|" + shown.other;
  };
  EXPECT_EQ(both("make test", "true", 40), "make test|true");
  const std::string same(100, 'x');
  EXPECT_EQ(both(same + "this", same + "other", 200), same + "this|" + same + "other");
  EXPECT_EQ(both(same + "this", same + "other", 60), "…" + same.substr(70) + "this|…" + same.substr(70) + "other");
  EXPECT_EQ(both(same, same + "more", 60), "…" + same.substr(70) + "|…" + same.substr(70) + "more");
  const std::string wide = same + "ä" + std::string(29, 'x');  // the cut, 30 bytes before the difference, is inside it
  EXPECT_EQ(both(wide + "1", wide + "2", 60), "…ä" + std::string(29, 'x') + "1|…ä" + std::string(29, 'x') + "2");
}

}  // namespace
}  // namespace ralph
