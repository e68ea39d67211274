#include "base/text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace ralph {
namespace {

using Words = std::vector<std::string>;

TEST(Trim, TakesBlanksOffBothEndsOnly) {
  EXPECT_EQ(trim(" \t\r\n a b\v\f "), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a:b", ':'), (Words{"a", "b"}));
  EXPECT_EQ(split(":a::", ':'), (Words{"", "a", "", ""}));
  EXPECT_EQ(split("", ':'), (Words{""}));
}

TEST(Join, PutsTheSeparatorBetweenAndNowhereElse) {
  EXPECT_EQ(join(Words{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join(Words{"a"}, ", "), "a");
  EXPECT_EQ(join(Words{}, ", "), "");
}

TEST(Case, IsChangedInAsciiAlone) {
  EXPECT_EQ(to_lower("AbZ[@É"), "abz[@É");
  EXPECT_EQ(to_upper("aBz{`é"), "ABZ{`é");
  EXPECT_TRUE(equals_ignoring_case("Done", "dONE"));
  EXPECT_FALSE(equals_ignoring_case("Done", "Don"));
  EXPECT_FALSE(equals_ignoring_case("É", "é"));
}

TEST(ReplaceAll, DoesNotLookAtWhatItPutIn) {
  EXPECT_EQ(replace_all("aXbX", "X", "XX"), "aXXbXX");
  EXPECT_EQ(replace_all("aaa", "aa", "b"), "ba");
  EXPECT_EQ(replace_all("abc", "b", ""), "ac");
  EXPECT_EQ(replace_all("abc", "x", "y"), "abc");
}

TEST(FirstLine, IsTheFirstThatIsNotBlank) {
  EXPECT_EQ(first_line("\n \n  one \r\ntwo"), "one");
  EXPECT_EQ(first_line("one"), "one");
  EXPECT_EQ(first_line(" \n\t"), "");
}

TEST(ParseCount, TakesPositiveWholeNumbersWithNothingAround) {
  EXPECT_EQ(parse_count("1"), 1);
  EXPECT_EQ(parse_count("007"), 7);
  EXPECT_EQ(parse_count(std::to_string(std::numeric_limits<long>::max())), std::numeric_limits<long>::max());
  for (std::string_view text : {"", "0", "-1", "+1", " 1", "1 ", "1.5", "x", "1x", "0x1", "9223372036854775808"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

TEST(SplitShellWords, FollowsTheShell) {
  struct Row {
    std::string_view text;
    Words words;
  };
  const Row rows[] = {
      {"", {}},
      {" \t\n", {}},
      {"a b", {"a", "b"}},
      {"  a\t\nb  ", {"a", "b"}},
      {"'a b' \"c d\"", {"a b", "c d"}},
      {"a' 'b\" \"c", {"a b c"}},
      {"'' \"\"", {"", ""}},
      {"a''", {"a"}},
      {R"(a\ b \' \" \\)", {"a b", "'", "\"", "\\"}},
      {R"('\n' '\')", {"\\n", "\\"}},
      {R"("\\ \" \$ \` \n")", {"\\ \" $ ` \\n"}},
      {"\"it's\" '\"'", {"it's", "\""}},
      {"$HOME *.c ~ `id`", {"$HOME", "*.c", "~", "`id`"}},
      {"a\\", {"a\\"}},
      {"é 'ü ß'", {"é", "ü ß"}},
  };
  for (const Row& row : rows) {
    const auto words = split_shell_words(row.text);
    ASSERT_TRUE(words) << row.text;
    EXPECT_EQ(*words, row.words) << row.text;
  }
}

TEST(SplitShellWords, RefusesAnUnclosedQuote) {
  for (std::string_view text : {"'", "\"", "a 'b", "a \"b", "'a\\'b'", "\"a\\\""}) {
    const auto words = split_shell_words(text);
    ASSERT_FALSE(words) << text;
    EXPECT_EQ(words.error().kind, ErrorKind::kInput);
    EXPECT_NE(words.error().message.find(text), std::string::npos);
  }
}

const std::vector<Words>& awkward_words() {
  static const std::vector<Words> kLists = {
      {"git", "commit", "-am", "Fix it"},
      {"", "", "a"},
      {"'", "''", "a'b", "\"", "\\", "\\'", "a\\"},
      {"$HOME", "`id`", "$(id)", "*", "~", "#x", "!x", "a;b", "a&b", "a|b", "<a", "{a,b}", "(", "[a]"},
      {"two\nlines", "tab\there", " ", "\r"},
      {"é", "\xff\xfe", "😀"},
  };
  return kLists;
}

TEST(QuoteShellWords, IsReadBackBySplitting) {
  for (const Words& words : awkward_words()) {
    const std::string line = quote_shell_words(words);
    const auto back = split_shell_words(line);
    ASSERT_TRUE(back) << line;
    EXPECT_EQ(*back, words) << line;
  }
}

TEST(QuoteShellWords, IsReadBackByARealShell) {
  for (const Words& words : awkward_words()) {
    std::string line = "printf '%s\\0' " + quote_shell_words(words);
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::dup2(pipe_ends[1], STDOUT_FILENO);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pipe_ends[1]);
    std::string output;
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = ::read(pipe_ends[0], buffer.data(), buffer.size())) > 0;) {
      output.append(buffer.data(), static_cast<size_t>(n));
    }
    ::close(pipe_ends[0]);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(output, join(words, std::string_view("\0", 1)) + '\0') << line;
  }
}

TEST(QuoteShellWords, LeavesPlainWordsAlone) {
  EXPECT_EQ(quote_shell_words(Words{"make", "-j2", "A=b", "x/y.z", "50%"}), "make -j2 A=b x/y.z 50%");
  EXPECT_EQ(quote_shell_words(Words{"a b", "", "it's"}), R"('a b' '' 'it'\''s')");
  EXPECT_EQ(quote_shell_words(Words{}), "");
}

TEST(Nearest, KnowsWhatWasMeant) {
  const std::array<std::string_view, 6> candidates = {"--prompt", "--prompt-file", "--max-iterations",
                                                      "--json",   "--verbose",     "-v"};
  struct Row {
    std::string_view word, meant;
  };
  const Row rows[] = {
      {"--promt", "--prompt"},
      {"--pormpt", "--prompt"},
      {"--PROMPT", "--prompt"},
      {"--prompt-f", "--prompt-file"},
      {"--max", "--max-iterations"},
      {"--max-iteration", "--max-iterations"},
      {"--jsno", "--json"},
      {"--frobnicate", ""},
      {"", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(nearest(row.word, candidates), row.meant) << row.word;
  EXPECT_EQ(nearest("run", {}), "");
}

TEST(Nearest, PrefersTheNearer) {
  const std::array<std::string_view, 3> candidates = {"rung", "rums", "runs"};
  EXPECT_EQ(nearest("runs", candidates), "runs");
  EXPECT_EQ(nearest("rusn", candidates), "runs");
}

TEST(HumanBytes, ReadsWell) {
  struct Row {
    unsigned long long bytes;
    std::string_view text;
  };
  const Row rows[] = {
      {0, "0 B"},
      {999, "999 B"},
      {1000, "1.0 KB"},
      {5040, "5.0 KB"},
      {999'949, "999.9 KB"},
      {999'999, "1.0 MB"},
      {1'000'000, "1.0 MB"},
      {1'234'000'000, "1.2 GB"},
      {5'000'000'000'000, "5.0 TB"},
      {5'000'000'000'000'000, "5000.0 TB"},
  };
  for (const Row& row : rows) EXPECT_EQ(human_bytes(row.bytes), row.text) << row.bytes;
}

TEST(JoinForPeople, ReadsAsASentence) {
  EXPECT_EQ(join_for_people(Words{}), "");
  EXPECT_EQ(join_for_people(Words{"a"}), "a");
  EXPECT_EQ(join_for_people(Words{"a", "b"}), "a and b");
  EXPECT_EQ(join_for_people(Words{"a", "b", "c"}), "a, b and c");
}

TEST(IsListed, FindsWholeWords) {
  EXPECT_TRUE(is_listed("run exec x", "run") && is_listed("run exec x", "exec") && is_listed("run exec x", "x"));
  EXPECT_FALSE(is_listed("run exec x", "ru") || is_listed("run exec x", "run exec") || is_listed("run exec x", ""));
  EXPECT_FALSE(is_listed("", "") || is_listed("", "x"));
}

TEST(StartsWithAny, TakesOneOfThePrefixes) {
  EXPECT_TRUE(starts_with_any("delete-x", {"purge-", "delete-"}));
  EXPECT_FALSE(starts_with_any("x-delete-", {"purge-", "delete-"}));
}

TEST(HexDigit, KnowsBothCases) {
  EXPECT_EQ(hex_digit('0'), 0);
  EXPECT_EQ(hex_digit('a'), 10);
  EXPECT_EQ(hex_digit('F'), 15);
  for (const char c : std::string_view("g-\0 ", 4)) EXPECT_EQ(hex_digit(c), -1) << int{c};
}

TEST(HumanCost, ShowsWhatCentsWouldHide) {
  EXPECT_EQ(human_cost(5.7649), "$5.76");
  EXPECT_EQ(human_cost(1234.5), "$1234.50");
  EXPECT_EQ(human_cost(0.05), "$0.05");
  EXPECT_EQ(human_cost(0.0099), "$0.0099");
  EXPECT_EQ(human_cost(0.00996), "$0.01");
  EXPECT_EQ(human_cost(0.00123), "$0.0012");
  EXPECT_EQ(human_cost(0.00001), "<$0.0001");
  EXPECT_EQ(human_cost(0), "$0.00");
  EXPECT_EQ(human_cost(std::nan("")), "$0.00");
}

TEST(CountOf, AgreesWithItsNoun) {
  EXPECT_EQ(count_of(0, "iteration"), "0 iterations");
  EXPECT_EQ(count_of(1, "iteration"), "1 iteration");
  EXPECT_EQ(count_of(2, "iteration"), "2 iterations");
  EXPECT_EQ(count_of(0, "story"), "0 stories");
  EXPECT_EQ(count_of(1, "story"), "1 story");
  EXPECT_EQ(count_of(2, "story"), "2 stories");
  EXPECT_EQ(count_of(2, "day"), "2 days");
  EXPECT_EQ(count_of(2, "key"), "2 keys");
  EXPECT_EQ(count_of(1, "process"), "1 process");
  EXPECT_EQ(count_of(2, "leftover process"), "2 leftover processes");
  EXPECT_EQ(count_of(3, "match"), "3 matches");
}

}  // namespace
}  // namespace ralph
