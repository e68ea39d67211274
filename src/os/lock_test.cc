#include "os/lock.h"

#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

class LockTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
  const std::string path_ = folder_ / "lock";
};

TEST_F(LockTest, LetsOneInAndTellsOthersWhoItIs) {
  auto owner = Lock::acquire(path_);
  ASSERT_TRUE(owner);
  ASSERT_TRUE(owner->name_owner("run 1, pid 4711\n"));
  const auto other = Lock::acquire(path_);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kBusy);
  EXPECT_EQ(other.error().message, "run 1, pid 4711");
}

TEST_F(LockTest, KeepsOtherProcessesOut) {
  const auto owner = Lock::acquire(path_);
  ASSERT_TRUE(owner);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(Lock::acquire(path_) ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(LockTest, IsFreeAgainWhenItsOwnerGoes) {
  {
    auto owner = Lock::acquire(path_);
    ASSERT_TRUE(owner);
    ASSERT_TRUE(owner->name_owner("the first"));
  }
  auto next = Lock::acquire(path_);
  EXPECT_TRUE(next);
}

TEST_F(LockTest, IsFreeAgainWhenItsOwnerIsKilled) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto owner = Lock::acquire(path_);
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_FALSE(Lock::acquire(path_));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(Lock::acquire(path_));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(LockTest, GoesWithItsOwnerWhenThatMoves) {
  std::optional<Lock> kept;
  {
    auto owner = Lock::acquire(path_);
    ASSERT_TRUE(owner);
    kept = *std::move(owner);
  }
  EXPECT_FALSE(Lock::acquire(path_));
  kept.reset();
  EXPECT_TRUE(Lock::acquire(path_));
}

TEST_F(LockTest, AShorterNameLeavesNothingOfALongerOne) {
  auto owner = Lock::acquire(path_);
  ASSERT_TRUE(owner);
  ASSERT_TRUE(owner->name_owner("a rather long line about the owner"));
  ASSERT_TRUE(owner->name_owner("short"));
  EXPECT_EQ(ScratchFolder::read(path_), "short");
}

TEST_F(LockTest, ItsFileStaysAndIsForTheOwnerAlone) {
  {
    ASSERT_TRUE(Lock::acquire(path_));
  }
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(LockTest, RefusesASymlinkAndSaysWhatItCannotOpen) {
  ScratchFolder::write(folder_ / "elsewhere", "");
  std::filesystem::create_symlink("elsewhere", path_);
  for (const std::string& path : {path_, folder_ / "no/such/lock"}) {
    const auto lock = Lock::acquire(path);
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().kind, ErrorKind::kIo);
    EXPECT_NE(lock.error().message.find(path), std::string::npos);
  }
}

}  // namespace
}  // namespace ralph
