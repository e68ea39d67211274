#include "settings/ralph_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"

namespace ralph {
namespace {

class RalphFolderTest : public testing::Test {
 protected:
  RalphFolderTest() {
    std::string name = testing::TempDir() + "folder XXXXXX";
    project_ = ::mkdtemp(name.data());
  }
  ~RalphFolderTest() override { std::filesystem::remove_all(project_); }

  std::string project_;
};

TEST_F(RalphFolderTest, IsCreatedOnceWithAGitignore) {
  for (int times = 0; times < 2; ++times) {
    const Status prepared = prepare_ralph_folder(project_);
    ASSERT_TRUE(prepared) << prepared.error().message;
    EXPECT_EQ(read_file(project_ + "/.ralph/.gitignore").value(), "*\n!settings.json\n");
  }
}

TEST_F(RalphFolderTest, KeepsAGitignoreOfTheUser) {
  ASSERT_TRUE(make_directories(project_ + "/.ralph"));
  ASSERT_TRUE(write_file_atomically(project_ + "/.ralph/.gitignore", "mine\n"));
  ASSERT_TRUE(prepare_ralph_folder(project_));
  EXPECT_EQ(read_file(project_ + "/.ralph/.gitignore").value(), "mine\n");
}

TEST_F(RalphFolderTest, RefusesALinkAndWritesNothingThroughIt) {
  ASSERT_TRUE(make_directories(project_ + "/elsewhere"));
  ASSERT_EQ(::symlink("elsewhere", (project_ + "/.ralph").c_str()), 0);
  const Status prepared = prepare_ralph_folder(project_);
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find(".ralph is a symbolic link"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(project_ + "/elsewhere"));
}

TEST_F(RalphFolderTest, RefusesAFileInItsPlace) {
  ASSERT_TRUE(write_file_atomically(project_ + "/.ralph", ""));
  const Status prepared = prepare_ralph_folder(project_);
  ASSERT_FALSE(prepared);
  EXPECT_NE(prepared.error().message.find("is not a folder"), std::string::npos);
}

}  // namespace
}  // namespace ralph
