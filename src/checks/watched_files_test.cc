#include "checks/watched_files.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

class WatchedFilesTest : public testing::Test {
 protected:
  WatchedFilesTest() {
    std::filesystem::create_directories(project_ + "/tests/deep");
    write("tests/a", "one");
    write("tests/deep/b", "two");
    write("Makefile", "all:");
  }

  void write(const std::string& path, std::string_view text) { ScratchFolder::write(project_ + "/" + path, text); }
  std::string read(const std::string& path) { return ScratchFolder::read(project_ + "/" + path); }

  WatchedFiles taken(WatchedFiles::Rules rules) { return *WatchedFiles::take(project_, store_, rules); }

  static std::vector<std::string> said(WatchedFiles& files) {
    std::vector<std::string> lines;
    for (const WatchedFiles::Change& change : files.changes())
      lines.push_back(files.files()[change.file].path + " " + change.what);
    return lines;
  }

  ScratchFolder scratch_;
  std::string project_ = scratch_ / "project", store_ = scratch_ / "store";
};

using Lines = std::vector<std::string>;

TEST_F(WatchedFilesTest, SeesWhatIsChangedDeletedAndReplaced) {
  WatchedFiles files = taken({{"tests"}, {"make"}});
  EXPECT_EQ(said(files), Lines{});
  write("tests/a", "changed");
  std::filesystem::remove(project_ + "/tests/deep/b");
  std::filesystem::remove(project_ + "/Makefile");
  std::filesystem::create_directory(project_ + "/Makefile");
  write("GNUmakefile", "all:");
  EXPECT_EQ(said(files), (Lines{"GNUmakefile created", "Makefile replaced by something else", "tests/a changed",
                                "tests/deep/b deleted"}));
}

TEST_F(WatchedFilesTest, WritingTheSameIsNoChangeAndNeitherIsANewFile) {
  WatchedFiles files = taken({{"tests/**"}, {}});
  write("tests/a", "one");
  write("tests/new", "x");
  EXPECT_EQ(said(files), Lines{});
}

TEST_F(WatchedFilesTest, PutsBackAndKeepsWhatWasThere) {
  WatchedFiles files = taken({{"tests"}, {}});
  write("tests/a", "changed");
  ASSERT_TRUE(files.put_back(files.changes().at(0), scratch_ / "kept/tests/a"));
  EXPECT_EQ(read("tests/a"), "one");
  EXPECT_EQ(ScratchFolder::read(scratch_ / "kept/tests/a"), "changed");
  EXPECT_EQ(said(files), Lines{});
}

TEST_F(WatchedFilesTest, WritesNothingThroughALinkInPlaceOfAFolder) {
  WatchedFiles files = taken({{"tests"}, {}});
  std::filesystem::create_directories(scratch_ / "outside/deep");
  std::filesystem::rename(project_ + "/tests", scratch_ / "moved");
  std::filesystem::create_symlink(scratch_ / "outside", project_ + "/tests");
  for (const WatchedFiles::Change& change : files.changes())
    ASSERT_TRUE(files.put_back(change, scratch_ / "kept/" + files.files()[change.file].path));
  EXPECT_EQ(read("tests/a"), "one");
  EXPECT_EQ(read("tests/deep/b"), "two");
  EXPECT_FALSE(file_exists(scratch_ / "outside/a"));
}

TEST_F(WatchedFilesTest, AnotherProcessFindsThemAgain) {
  const std::string manifest = taken({{"tests"}, {}}).manifest();
  write("tests/a", "changed");
  auto files = WatchedFiles::load(project_, store_, manifest);
  ASSERT_TRUE(files);
  EXPECT_EQ(said(*files), Lines{"tests/a changed"});
  ASSERT_TRUE(files->put_back(files->changes().at(0), scratch_ / "kept/tests/a"));
  EXPECT_EQ(read("tests/a"), "one");
  EXPECT_FALSE(WatchedFiles::load(project_, store_, std::string(64, '0')));
}

TEST_F(WatchedFilesTest, ACopyThatWasChangedIsNotUsed) {
  WatchedFiles files = taken({{"tests/a"}, {}});
  ScratchFolder::write(store_ + "/" + files.files().at(0).sha256, "forged");
  write("tests/a", "changed");
  EXPECT_FALSE(files.put_back(files.changes().at(0), scratch_ / "kept/tests/a"));
  EXPECT_EQ(read("tests/a"), "changed");
}

TEST_F(WatchedFilesTest, RefusesMoreThanItMayCopy) {
  EXPECT_FALSE(WatchedFiles::take(project_, store_, {{"tests"}, {}, true, 4}));
  EXPECT_TRUE(WatchedFiles::take(project_, store_, {{"tests/a"}, {}, true, 4}));
}

}  // namespace
}  // namespace ralph
