#include "journal/reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/text.h"
#include "journal/words_for_tests.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

// A line of version 1, which had no chain.
std::string line(int iteration) {
  return replace_all(record::to_line({iteration, WallTime{}, record::IterationStarted{iteration}}), "\"v\":2",
                     "\"v\":1") +
         "\n";
}

class JournalReaderTest : public ::testing::Test {
 protected:
  JournalReader open() {
    auto reader = JournalReader::open(file_);
    EXPECT_TRUE(reader) << reader.error().message;
    return *std::move(reader);
  }
  // The sequence numbers of the remaining records.
  static std::vector<std::int64_t> rest_of(JournalReader& reader) {
    std::vector<std::int64_t> numbers;
    for (;;) {
      const auto record = reader.next();
      EXPECT_TRUE(record);
      if (!record || !*record) return numbers;
      numbers.push_back((*record)->sequence);
    }
  }

  using Numbers = std::vector<std::int64_t>;
  ScratchFolder folder_;
  std::string file_ = folder_ / "journal.jsonl";
};

TEST_F(JournalReaderTest, ReturnsTheRecordsInTheirOrder) {
  ScratchFolder::write(file_, line(1) + line(2) + line(3));
  JournalReader reader = open();
  EXPECT_EQ(rest_of(reader), (Numbers{1, 2, 3}));
  EXPECT_TRUE(reader.problems().empty());
}

TEST_F(JournalReaderTest, ReturnsNothingFromAnEmptyFile) {
  ScratchFolder::write(file_, "");
  JournalReader reader = open();
  EXPECT_EQ(rest_of(reader), Numbers{});
  EXPECT_TRUE(reader.problems().empty());
}

TEST_F(JournalReaderTest, SaysThatTheLastRecordIsUnfinished) {
  for (size_t cut = 1; cut < line(2).size(); ++cut) {
    ScratchFolder::write(file_, line(1) + line(2).substr(0, cut));
    JournalReader reader = open();
    EXPECT_EQ(rest_of(reader), Numbers{1});
    EXPECT_EQ(reader.torn_tail(), cut);
    EXPECT_EQ(reader.problems().size(), 1u);
    EXPECT_EQ(reader.bad_lines(), 0u);
  }
}

TEST_F(JournalReaderTest, PassesOverBadLinesAndSaysWhichTheyAre) {
  ScratchFolder::write(
      file_, line(1) + "garbage\n\n" + line(2) + std::string("\0\0\0\n", 4) + R"({"type":"new","seq":9})" + "\n");
  JournalReader reader = open();
  EXPECT_EQ(rest_of(reader), (Numbers{1, 2, 9}));
  ASSERT_EQ(reader.bad_lines(), 3u);
  EXPECT_TRUE(reader.problems()[0].starts_with("line 2 is damaged: ")) << reader.problems()[0];
  EXPECT_TRUE(reader.problems()[1].starts_with("line 3 is damaged: ")) << reader.problems()[1];
  EXPECT_TRUE(reader.problems()[2].starts_with("line 5 is damaged: ")) << reader.problems()[2];
}

TEST_F(JournalReaderTest, KeepsTheFirstOfManyProblemsOnly) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "x\n";
  ScratchFolder::write(file_, text);
  JournalReader reader = open();
  EXPECT_EQ(rest_of(reader), Numbers{});
  EXPECT_EQ(reader.bad_lines(), 50'000u);
  EXPECT_EQ(reader.problems().size(), 11u);
}

TEST_F(JournalReaderTest, FollowsAJournalThatGrows) {
  ScratchFolder::write(file_, line(1) + line(2).substr(0, 10));
  JournalReader reader = open();
  EXPECT_EQ(rest_of(reader), Numbers{1});
  EXPECT_EQ(rest_of(reader), Numbers{});
  EXPECT_EQ(reader.torn_tail(), 10u);
  std::ofstream(file_, std::ios::app) << line(2).substr(10) << line(3);
  EXPECT_EQ(rest_of(reader), (Numbers{2, 3}));
  EXPECT_EQ(reader.torn_tail(), 0u);
}

TEST_F(JournalReaderTest, DropsALineThatIsTooLongToBeARecord) {
  {
    std::ofstream out(file_);
    out << line(1);
    const std::string block(1 << 20, 'x');
    for (size_t size = 0; size <= JournalReader::kLongestLine; size += block.size()) out << block;
    out << "\n" << line(2);
  }
  JournalReader reader = open();
  EXPECT_EQ(rest_of(reader), (Numbers{1, 2}));
  EXPECT_EQ(reader.bad_lines(), 1u);
}

TEST_F(JournalReaderTest, ReadsPlainFilesOnly) {
  const auto missing = JournalReader::open(file_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  ASSERT_EQ(::symlink("/etc/passwd", file_.c_str()), 0);
  EXPECT_FALSE(JournalReader::open(file_));
  ::unlink(file_.c_str());
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_FALSE(JournalReader::open(file_)) << "and does not wait for a writer";
  EXPECT_FALSE(JournalReader::open(folder_.path()));
}

TEST_F(JournalReaderTest, SaysWhereTheChainIsBroken) {
  std::string text, hash;
  for (int i = 1; i <= 4; ++i) {
    const std::string line = record::to_line({i, WallTime{}, record::IterationStarted{i}, hash});
    hash = sha256_hex(line);
    if (i != 3) text += line + "\n";  // one is missing
  }
  ScratchFolder::write(file_, text);
  auto reader = JournalReader::open(file_);
  ASSERT_TRUE(reader);
  while (reader->next().value()) {
  }
  EXPECT_FALSE(reader->is_whole());
  EXPECT_EQ(reader->problems(),
            std::vector<std::string>{"line 3 does not follow from the line before it: record 3 is missing"});
}

TEST_F(JournalReaderTest, SaysWhichRecordsAreMissingOrRepeated) {
  std::vector<std::string> lines;
  for (int i = 1; i <= 7; ++i)
    lines.push_back(
        record::to_line({i, WallTime{}, record::IterationStarted{i}, i == 1 ? "" : sha256_hex(lines.back())}));
  std::string text;
  for (const size_t number : {1, 2, 6, 7, 7}) text += lines[number - 1] + "\n";
  ScratchFolder::write(file_, text);
  auto reader = JournalReader::open(file_);
  ASSERT_TRUE(reader);
  while (reader->next().value()) {
  }
  const std::vector<std::string> problems = reader->problems();
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_NE(problems[0].find("line 3"), std::string::npos);
  EXPECT_NE(problems[0].find("records 3 to 5 are missing"), std::string::npos);
  EXPECT_NE(problems[1].find("record 7 is repeated"), std::string::npos);
}

}  // namespace
}  // namespace ralph
