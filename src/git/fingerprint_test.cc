#include "git/fingerprint.h"

#include <gtest/gtest.h>

#include "git/git.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

TEST(TreeFingerprint, SeesTheLastOfManyChangedFiles) {
  const ScratchFolder folder;
  ASSERT_TRUE(plain_git(folder.path())({"init", "-q"}));
  // More than 64 KB of `git status`, most of it before the file in question.
  for (int i = 0; i < 600; ++i) ScratchFolder::write(folder / fmt::format("{:03}-{}", i, std::string(150, 'x')), "");
  ScratchFolder::write(folder / "zzz", "1");
  const Environment environment = Environment::of_this_process();
  const std::string before = tree_fingerprint(folder.path(), environment);
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(tree_fingerprint(folder.path(), environment), before);
  ScratchFolder::write(folder / "zzz", "12");
  EXPECT_NE(tree_fingerprint(folder.path(), environment), before);
}

}  // namespace
}  // namespace ralph
