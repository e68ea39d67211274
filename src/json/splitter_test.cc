#include "json/splitter.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace ralph {
namespace {

class Collector : public LineSink {
 public:
  void on_line(std::string_view line) override { lines.emplace_back(line); }
  void on_oversized_line(std::string_view head) override { lines.push_back("oversized:" + std::string(head)); }

  std::vector<std::string> lines;
};

using Lines = std::vector<std::string>;

Lines lines_of(std::string_view text, size_t longest = 100, size_t piece = 0) {
  LineSplitter splitter(longest);
  Collector collector;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, piece == 0 ? text.size() : piece);
    splitter.feed(part, collector);
    text.remove_prefix(part.size());
  }
  splitter.finish(collector);
  return collector.lines;
}

TEST(LineSplitterTest, EndsLinesAtLineFeedsWithOrWithoutCarriageReturns) {
  EXPECT_EQ(lines_of("one\ntwo\r\nthree"), (Lines{"one", "two", "three"}));
}

TEST(LineSplitterTest, SkipsEmptyLines) {
  EXPECT_EQ(lines_of("\n\r\n  \t\none\n\n \n"), (Lines{"one"}));
  EXPECT_EQ(lines_of(""), Lines());
}

TEST(LineSplitterTest, SkipsAByteOrderMarkAtTheBeginningOnly) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n"), (Lines{"one", "\xEF\xBB\xBFtwo"}));
}

TEST(LineSplitterTest, RemovesNulsAroundALineAndKeepsThoseWithin) {
  EXPECT_EQ(lines_of(std::string_view("\0\0a\0b\0\n\0\0\n", 10)), (Lines{std::string("a\0b", 3)}));
}

TEST(LineSplitterTest, KeepsOnlyTheHeadOfALineThatIsTooLong) {
  const std::string longest(100, 'a');
  EXPECT_EQ(lines_of(longest + "\nb\n"), (Lines{longest, "b"}));
  EXPECT_EQ(lines_of(longest + "!\nb\n"), (Lines{"oversized:" + longest, "b"}));
  EXPECT_EQ(lines_of(std::string(LineSplitter::kHead * 3, 'x'), LineSplitter::kHead * 2),
            (Lines{"oversized:" + std::string(LineSplitter::kHead, 'x')}));
}

TEST(LineSplitterTest, GivesTheSameLinesInPiecesOfAnySize) {
  const std::string text = "\xEF\xBB\xBFone\r\n\n" + std::string(100, 'a') + "\n" + std::string(101, 'b') + "\r\n" +
                           std::string(500, 'c') + "\nend";
  const Lines whole = lines_of(text);
  for (size_t piece = 1; piece < 120; ++piece) EXPECT_EQ(lines_of(text, 100, piece), whole) << piece;
}

TEST(LineSplitterTest, PassesAWholeLineOnWithoutACopy) {
  class Pointers : public LineSink {
   public:
    void on_line(std::string_view line) override { at = line.data(); }
    void on_oversized_line(std::string_view) override {}
    const char* at = nullptr;
  };
  const std::string text = "one\n";
  LineSplitter splitter(100);
  Pointers pointers;
  splitter.feed(text, pointers);
  EXPECT_EQ(pointers.at, text.data());
}

}  // namespace
}  // namespace ralph
