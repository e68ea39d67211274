#include "journal/stream_space.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

std::string text_of(const std::string& path) {
  return read_file(path).value_or("(gone)");
}

RawFile stream_at(const std::string& path) {
  auto file = RawFile::create(path);
  EXPECT_TRUE(file);
  return *std::move(file);
}

std::string lines(int first, int last) {
  std::string text;
  for (int i = first; i <= last; ++i) text += fmt::format("{:09}\n", i);
  return text;
}

TEST(StreamSpace, KeepsTheEndOfOneStream) {
  ScratchFolder folder;
  RawFile file = stream_at(folder / "agent_1.out");
  StreamSpace space(folder.path(), 1000);
  for (int i = 1; i <= 500; ++i) {
    ASSERT_TRUE(space.append(file, lines(i, i)));
    ASSERT_LE(std::filesystem::file_size(folder / "agent_1.out"), 1000U);
  }
  const std::string kept = text_of(folder / "agent_1.out");
  EXPECT_GE(kept.size(), 400U);
  EXPECT_EQ(kept, lines(501 - static_cast<int>(kept.size() / 10), 500)) << "whole lines, up to the last";
  EXPECT_EQ(space.dropped() + static_cast<std::int64_t>(kept.size()), 5000);
}

TEST(StreamSpace, EarlierTurnsGoFirstAndLogsStay) {
  ScratchFolder folder;
  for (const char* name : {"agent_1.out", "agent_1.err", "agent_2.out", "guardrail_1_x.log", "prompt_1.txt"})
    ScratchFolder::write(folder / name, std::string(400, 'x'));
  const auto now = std::filesystem::last_write_time(folder / "agent_2.out");
  std::filesystem::last_write_time(folder / "agent_1.err", now - std::chrono::hours(2));
  std::filesystem::last_write_time(folder / "agent_1.out", now - std::chrono::hours(1));
  StreamSpace space(folder.path(), 1300);
  RawFile file = stream_at(folder / "agent_3.out");
  ASSERT_TRUE(space.append(file, lines(1, 20)));
  EXPECT_EQ(text_of(folder / "agent_1.err"), "(gone)") << "the oldest";
  EXPECT_NE(text_of(folder / "agent_1.out"), "(gone)");
  ASSERT_TRUE(space.append(file, lines(21, 100)));
  EXPECT_EQ(text_of(folder / "agent_2.out"), "(gone)");
  EXPECT_EQ(text_of(folder / "agent_3.out"), lines(1, 100));
  EXPECT_EQ(text_of(folder / "guardrail_1_x.log").size(), 400U);
  EXPECT_EQ(text_of(folder / "prompt_1.txt").size(), 400U);
}

TEST(StreamSpace, WithoutALimitKeepsAll) {
  ScratchFolder folder;
  RawFile file = stream_at(folder / "agent_1.out");
  StreamSpace space(folder.path(), 0);
  for (int i = 1; i <= 500; ++i) ASSERT_TRUE(space.append(file, lines(i, i)));
  EXPECT_EQ(text_of(folder / "agent_1.out"), lines(1, 500));
  EXPECT_EQ(space.dropped(), 0);
}

TEST(StreamSpace, ALineWithoutEndIsCutToo) {
  ScratchFolder folder;
  RawFile file = stream_at(folder / "agent_1.out");
  StreamSpace space(folder.path(), 1000);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(space.append(file, std::string(99, 'x')));
  EXPECT_LE(std::filesystem::file_size(folder / "agent_1.out"), 1000U);
}

// A run of a thousand turns must not inspect a thousand files in each one.
TEST(StreamSpace, ListsTheFolderOnlyWhenItMayBeTooMuch) {
  ScratchFolder folder;
  for (const char* name : {"agent_1.out", "agent_2.out"}) ScratchFolder::write(folder / name, std::string(400, 'x'));
  StreamSpace counted(folder.path(), 1300);
  EXPECT_EQ(counted.total(), 800);

  RawFile third = stream_at(folder / "agent_3.out"), errors = stream_at(folder / "agent_3.err");
  StreamSpace space(folder.path(), 1300, counted.total(), {"agent_3.out", "agent_3.err"});
  ASSERT_TRUE(space.append(third, lines(1, 30)));
  EXPECT_EQ(space.total(), 1100);
  std::filesystem::remove(folder / "agent_1.out");  // by somebody else
  ASSERT_TRUE(space.append(third, lines(31, 70)));
  EXPECT_EQ(space.total(), 1100) << "it looked before it removed anything";
  EXPECT_EQ(space.dropped(), 0);
  EXPECT_NE(text_of(folder / "agent_2.out"), "(gone)");
  ASSERT_TRUE(space.append(third, lines(71, 100)));
  EXPECT_EQ(text_of(folder / "agent_2.out"), "(gone)");
  ASSERT_TRUE(space.append(errors, lines(1, 20)));
  EXPECT_EQ(text_of(folder / "agent_3.out"), lines(1, 100));
  EXPECT_EQ(text_of(folder / "agent_3.err"), lines(1, 20)) << "its own stream is not an old one";
}

}  // namespace
}  // namespace ralph
