#include "sandbox/private_home.h"

#include <filesystem>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

class PrivateHome : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(base_ / "home/.config/agent/deep");
    ASSERT_TRUE(make_private_home(base_ / "private"));
  }
  Status copy(const std::string& name) { return copy_to_private_home(base_ / "home", base_ / "private", name); }
  ScratchFolder base_;
};

TEST_F(PrivateHome, AFileIsCopiedIfItIsNewerAndTheAgentsOwnIsKept) {
  ScratchFolder::write(base_ / "home/login", "one");
  ASSERT_TRUE(copy("login"));
  EXPECT_EQ(read_file(base_ / "private/login"), "one");
  ScratchFolder::write(base_ / "private/login", "renewed inside");
  ASSERT_TRUE(copy("login"));
  EXPECT_EQ(read_file(base_ / "private/login"), "renewed inside");
  ScratchFolder::write(base_ / "home/login", "two");
  fs::last_write_time(base_ / "home/login", fs::file_time_type::clock::now() + std::chrono::seconds(5));
  ASSERT_TRUE(copy("login"));
  EXPECT_EQ(read_file(base_ / "private/login"), "two");
  ASSERT_TRUE(copy("missing"));
}

TEST_F(PrivateHome, AFolderIsCopiedWithWhatLinksLeadTo) {
  const std::string from = base_ / "home/.config/agent/", to = base_ / "private/.config/agent/";
  ScratchFolder::write(from + "settings.json", "{}");
  ScratchFolder::write(from + "deep/program", "#!/bin/sh");
  fs::permissions(from + "deep/program", fs::perms::owner_all);
  ScratchFolder::write(base_ / "home/dotfile", "elsewhere");
  fs::create_symlink("deep/program", from + "run");
  fs::create_symlink("../../dotfile", from + "linked.json");
  fs::create_symlink("nowhere", from + "dangling");
  ASSERT_TRUE(copy(".config/agent/"));
  EXPECT_EQ(read_file(to + "settings.json"), "{}");
  EXPECT_TRUE(fs::is_symlink(to + "run") && is_executable_file(to + "run"));
  EXPECT_TRUE(is_real_file(to + "linked.json"));
  EXPECT_EQ(read_file(to + "linked.json"), "elsewhere");
  ScratchFolder::write(to + "own", "made inside");
  ASSERT_TRUE(copy(".config/agent/"));
  EXPECT_EQ(read_file(to + "own"), "made inside");
}

// An agent controls the home: a link there would make us write elsewhere.
TEST_F(PrivateHome, ALinkInThePrivateHomeIsNotFollowed) {
  fs::create_directory(base_ / "victim");
  ScratchFolder::write(base_ / "home/.config/agent/settings.json", "{}");
  fs::create_directory_symlink(base_ / "victim", base_ / "private/.config");
  EXPECT_FALSE(copy(".config/agent/"));
  EXPECT_FALSE(copy(".config/agent/settings.json"));
  EXPECT_TRUE(fs::is_empty(base_ / "victim"));
}

TEST_F(PrivateHome, TooMuchIsAnError) {
  ScratchFolder::write(base_ / "home/.config/agent/huge", "");
  fs::resize_file(base_ / "home/.config/agent/huge", 300 << 20);
  const Status copied = copy(".config/agent/");
  ASSERT_FALSE(copied);
  EXPECT_NE(copied.error().message.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace ralph
