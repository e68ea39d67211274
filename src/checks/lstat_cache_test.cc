#include "checks/lstat_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

// Time passes only as the tests say. A tick is over after ten seconds on every file system.
class ScanMemoTest : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return join_path(folder_.path(), name); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(make_directories(parent_path(at(name))));
    ASSERT_TRUE(replace_file(at(name), text));
  }

  // A look at these paths, and then everything that it saw is remembered.
  void look(const std::vector<std::string>& names, const std::vector<std::string>& listed = {}) {
    LstatCache lstats({folder_.path()});
    for (const std::string& name : names) lstats.at(at(name));
    for (const std::string& name : listed) {
      lstats.at(at(name));
      lstats.list(at(name));
    }
    look_.remember(lstats, now_);
  }
  bool holds_later() { return look_.still_holds(now_ += Milliseconds(10'000)); }
  bool holds_now() { return look_.still_holds(now_); }

  ScratchFolder folder_;
  ScanMemo look_;
  MonotonicTime now_{Milliseconds(1'000'000)};
};

TEST_F(ScanMemoTest, HoldsNothingBeforeTheFirstLook) {
  EXPECT_FALSE(holds_now());
}

TEST_F(ScanMemoTest, HoldsWhileNothingChanges) {
  write("a/file", "text");
  look({"a/file", "a/missing", "none/below"});
  EXPECT_TRUE(holds_now());
  EXPECT_TRUE(holds_later());
  EXPECT_TRUE(holds_later());
}

TEST_F(ScanMemoTest, SeesAFileThatIsWrittenRemovedOrReplaced) {
  write("a/file", "text");
  look({"a/file"});
  write("a/file", "other");
  EXPECT_FALSE(holds_now());
  look({"a/file"});
  ::unlink(at("a/file").c_str());
  EXPECT_FALSE(holds_now());
}

TEST_F(ScanMemoTest, SeesChangesThatPutTheTimeOfTheFileBack) {
  write("a/file", "text");
  look({"a/file"});
  struct stat before{};
  ASSERT_EQ(::stat(at("a/file").c_str(), &before), 0);
  ::usleep(20'000);
  const Fd file(::open(at("a/file").c_str(), O_WRONLY));
  ASSERT_EQ(::pwrite(file.get(), "TEXT", 4, 0), 4);
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::futimens(file.get(), times), 0);
  EXPECT_FALSE(holds_now());
}

TEST_F(ScanMemoTest, SeesAMissingFileAppearAlsoAfterManyLooks) {
  write("a/file", "text");
  look({"a/file", "a/missing"});
  EXPECT_TRUE(holds_later());
  EXPECT_TRUE(holds_later());
  write("a/missing", "");
  EXPECT_FALSE(holds_later());
}

TEST_F(ScanMemoTest, SeesAMissingFileAppearWithinTheTickOfTheLook) {
  write("a/file", "text");
  look({"a/file", "a/missing"});  // its folder may have been written in this very tick
  write("a/missing", "");
  EXPECT_FALSE(holds_now());
}

TEST_F(ScanMemoTest, AFolderVouchesForItsContentOnlyAfterALookThatIsATickLater) {
  write("a/file", "text");
  look({}, {"a"});
  EXPECT_FALSE(holds_now()) << "its names may have changed in the same tick";
  now_ += Milliseconds(10'000);
  look({}, {"a"});
  EXPECT_TRUE(holds_now());
  write("a/other", "");
  EXPECT_FALSE(holds_now());
}

TEST_F(ScanMemoTest, ALinkIsFollowedEachTime) {
  write("elsewhere/there", "text");
  ASSERT_EQ(::symlink("elsewhere", at("link").c_str()), 0);
  ASSERT_EQ(::symlink("elsewhere/target", at("file").c_str()), 0);
  look({"link/missing", "file"});
  EXPECT_TRUE(holds_later());
  write("elsewhere/target", "text");
  EXPECT_FALSE(holds_later()) << "what the link names is another file";
  look({"link/missing", "file"});
  EXPECT_TRUE(holds_later());
  write("elsewhere/missing", "");
  EXPECT_FALSE(holds_later());
}

TEST_F(ScanMemoTest, AFolderThatIsOnlyPassedThroughMayChange) {
  write("a/b/file", "text");
  look({"a/b/file"});
  write("a/beside", "");
  EXPECT_TRUE(holds_later());
  ASSERT_EQ(::rename(at("a/b").c_str(), at("a/c").c_str()), 0);
  write("a/b/file", "text");
  EXPECT_FALSE(holds_later()) << "it is another folder";
}

}  // namespace
}  // namespace ralph
