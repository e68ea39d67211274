#include "journal/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "journal/writer.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

const WallTime kNow{Milliseconds(1'794'774'153'123)};  // 2026-11-15T20:22:33.123Z

class RunFolderTest : public ::testing::Test {
 protected:
  std::string make(const std::string& id) {
    const auto folder = create_run_folder(project_.path(), id);
    EXPECT_TRUE(folder) << folder.error().message;
    return folder ? folder->id : "";
  }
  std::string found(std::string_view text) {
    const auto run = find_run(project_.path(), text);
    return run ? run->id : run.error().message;
  }
  std::vector<std::string> ids() {
    std::vector<std::string> ids;
    const auto runs = list_runs(project_.path());
    for (const RunFolder& run : *runs) ids.push_back(run.id);
    return ids;
  }

  ScratchFolder project_;
};

TEST(RunId, IsTheTimeAndFourRandomDigits) {
  const std::string id = new_run_id(kNow);
  EXPECT_TRUE(id.starts_with("20261115-202233-")) << id;
  EXPECT_TRUE(is_run_id(id)) << id;
  for (std::string_view text :
       {"", "last", "20261115-202233", "20261115-202233-7f3", "20261115-202233-7f3g", "20261115-202233-7F3A",
        "20261115_202233-7f3a", "2026111a-202233-7f3a", "20261115-202233-7f3a5", "../../../../../../etc"}) {
    EXPECT_FALSE(is_run_id(text)) << text;
  }
}

TEST_F(RunFolderTest, IsNewAndAccessibleOnlyToItsOwner) {
  const auto folder = create_run_folder(project_.path(), "20261115-202233-7f3a");
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->id, "20261115-202233-7f3a");
  EXPECT_EQ(folder->path, project_ / ".ralph/runs/20261115-202233-7f3a");
  struct stat info{};
  ASSERT_EQ(::stat(folder->path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

// A task's run gets its id elsewhere, so the order of ids within one second means nothing.
TEST_F(RunFolderTest, TheOneThatBeganLastWithinASecondIsTheNewest) {
  const auto begin = [&](const std::string& id, int milliseconds) {
    const std::string folder = project_ / ".ralph/runs/" + id;
    ASSERT_TRUE(make_directories(folder));
    const WallTime now = kNow + Milliseconds(milliseconds);
    auto journal = JournalWriter::open(folder, Redactor(std::vector<std::string>{}), [=] { return now; });
    ASSERT_TRUE(journal);
    ASSERT_TRUE(journal->append(record::RunStarted{}));
  };
  begin("20261115-202233-0001", 30);
  begin("20261115-202233-0002", 10);
  begin("20261115-202233-0003", 20);
  begin("20261115-202232-ffff", 40);
  EXPECT_EQ(ids(), (std::vector<std::string>{"20261115-202233-0001", "20261115-202233-0003", "20261115-202233-0002",
                                             "20261115-202232-ffff"}));
  EXPECT_EQ(found("last"), "20261115-202233-0001");
}

TEST_F(RunFolderTest, OneThatWasKilledBeforeItsFirstRecordDoesNotStayTheNewest) {
  const std::string killed = make("20261115-202233-0001"), complete = make("20261115-202233-0002");
  EXPECT_EQ(found("last"), complete) << "both have just begun";
  auto writer = JournalWriter::open(project_ / ".ralph/runs/" + complete, Redactor(std::vector<std::string>{}), [] {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now()) + Milliseconds(5);
  });
  ASSERT_TRUE(writer && writer->append(record::RunStarted{}));
  EXPECT_EQ(found("last"), complete);
}

TEST_F(RunFolderTest, GetsALaterIdThanEveryRunOfItsSecond) {
  std::string last = make("20261115-202233-7f3a");
  for (int i = 0; i < 100; ++i) {
    const std::string id = make("20261115-202233-0000");
    EXPECT_GT(id, last);
    last = id;
  }
  EXPECT_EQ(make("20261115-202233-ffff"), "20261115-202233-ffff");
  EXPECT_EQ(make("20261115-202233-ffff").size(), last.size()) << "when the numbers end, any that is free";
  EXPECT_EQ(make("20261115-202234-0000"), "20261115-202234-0000");
}

TEST_F(RunFolderTest, IsNeverCreatedThroughASymlink) {
  const ScratchFolder elsewhere;
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), (project_ / ".ralph").c_str()), 0);
  auto folder = create_run_folder(project_.path(), new_run_id(kNow));
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find(".ralph"), std::string::npos) << folder.error().message;
  EXPECT_FALSE(list_runs(project_.path()));
  ::unlink((project_ / ".ralph").c_str());
  ASSERT_EQ(::mkdir((project_ / ".ralph").c_str(), 0755), 0);
  ASSERT_EQ(::symlink(elsewhere.path().c_str(), (project_ / ".ralph/runs").c_str()), 0);
  EXPECT_FALSE(create_run_folder(project_.path(), new_run_id(kNow)));
  EXPECT_FALSE(list_runs(project_.path()));
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(RunFolderTest, AreListedNewestFirst) {
  EXPECT_EQ(ids(), std::vector<std::string>{});
  for (const char* id : {"20261115-202233-7f3a", "20270101-000000-0001", "20261115-202232-ffff"}) make(id);
  ASSERT_TRUE(make_directories(project_ / ".ralph/runs/notes"));
  ScratchFolder::write(project_ / ".ralph/runs/20280101-000000-0000", "a file");
  ASSERT_EQ(::symlink("/", (project_ / ".ralph/runs/20280101-000000-0001").c_str()), 0);
  EXPECT_EQ(ids(), (std::vector<std::string>{"20270101-000000-0001", "20261115-202233-7f3a", "20261115-202232-ffff"}));
}

TEST_F(RunFolderTest, AreFoundByIdByItsBeginningAndAsTheLast) {
  for (const char* id : {"20261115-202233-7f3a", "20270101-000000-0001", "20261115-202232-ffff"}) make(id);
  EXPECT_EQ(found("20261115-202232-ffff"), "20261115-202232-ffff");
  EXPECT_EQ(found("2027"), "20270101-000000-0001");
  EXPECT_EQ(found("last"), "20270101-000000-0001");
}

TEST_F(RunFolderTest, ThatAreNotFoundLeadToSimilarOnes) {
  EXPECT_NE(found("last").find("no runs"), std::string::npos);
  for (const char* id : {"20261115-202233-7f3a", "20270101-000000-0001", "20261115-202232-ffff"}) make(id);
  EXPECT_NE(found("20261115-202233-7f3b").find("there are 20261115-202233-7f3a, "), std::string::npos)
      << found("20261115-202233-7f3b");
  EXPECT_NE(found("20261115").find("several runs: 20261115-202233-7f3a, 20261115-202232-ffff;"), std::string::npos)
      << found("20261115");
  for (std::string_view text : {"", "..", "../..", "nonsense"}) {
    const auto run = find_run(project_.path(), text);
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().kind, ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace ralph
