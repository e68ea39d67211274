#include "os/real_paths.h"

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/files.h"

namespace ralph {
namespace {

class RealPathsTest : public testing::Test {
 protected:
  RealPathsTest() {
    char name[] = "/tmp/real-paths-XXXXXX";
    base_ = std::filesystem::canonical(::mkdtemp(name)).string();
    std::filesystem::create_directories(base_ + "/there/deep");
    std::ofstream(base_ + "/there/file") << "x";
    std::filesystem::create_symlink("there", base_ + "/link");
    std::filesystem::create_symlink(base_ + "/there/deep", base_ + "/absolute");
    std::filesystem::create_symlink("../link/deep/..", base_ + "/there/up");
    std::filesystem::create_symlink("nowhere", base_ + "/loose");
    std::filesystem::create_symlink("circle", base_ + "/circle");
  }
  ~RealPathsTest() override { std::filesystem::remove_all(base_); }

  std::string base_;
  RealPaths paths_;
};

TEST_F(RealPathsTest, FollowsLinksAsFarAsThePathExists) {
  EXPECT_EQ(paths_.of(base_ + "/link"), base_ + "/there");
  EXPECT_EQ(paths_.of(base_ + "/link/deep/x/y"), base_ + "/there/deep/x/y");
  EXPECT_EQ(paths_.of(base_ + "/absolute/../file"), base_ + "/there/file") << "as the kernel does, not textually";
  EXPECT_EQ(paths_.of(base_ + "/there/up/file"), base_ + "/there/file");
  EXPECT_EQ(paths_.of(base_ + "/loose/x"), base_ + "/nowhere/x");
  EXPECT_EQ(paths_.of(base_ + "/circle/x"), base_ + "/circle/x");
  EXPECT_EQ(paths_.of("/"), "/");
  EXPECT_EQ(paths_.of("/no/such/../folder"), "/no/folder");
}

TEST_F(RealPathsTest, GivesTheKernelsAnswerForWhatExists) {
  for (const char* name : {"/there", "/link", "/link/deep", "/absolute", "/there/up", "/link/file"}) {
    char buffer[PATH_MAX];
    ASSERT_TRUE(::realpath((base_ + name).c_str(), buffer)) << name;
    EXPECT_EQ(paths_.of(base_ + name), buffer);
    EXPECT_EQ(real_path(base_ + name), buffer);
  }
}

TEST_F(RealPathsTest, AMissingFolderIsAskedForOnce) {
  std::string deep = base_;
  for (int i = 0; i < 80; ++i) deep += "/a";
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(paths_.of(deep + "/x" + std::to_string(i)), deep + "/x" + std::to_string(i));
  EXPECT_LE(paths_.system_calls(), 4u) << "/tmp, the folder, and `a` in it";
}

}  // namespace
}  // namespace ralph
