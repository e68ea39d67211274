#include "git/dot_git.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(DotGit, AFileNamesAFolder) {
  EXPECT_EQ(folder_in_git_file("gitdir: ../x/.git\n"), "../x/.git");
  EXPECT_EQ(folder_in_git_file("gitdir:/x\r\n"), "/x");
  EXPECT_EQ(folder_in_git_file("gitdir: /x\nmore\n"), "/x");
  EXPECT_EQ(folder_in_git_file("gitdir: \n"), std::nullopt);
  EXPECT_EQ(folder_in_git_file("worktree: /x\n"), std::nullopt);
  EXPECT_EQ(folder_in_git_file(""), std::nullopt);
}

TEST(DotGit, HeadNamesABranch) {
  EXPECT_EQ(branch_in_head("ref: refs/heads/main\n"), "refs/heads/main");
  EXPECT_EQ(branch_in_head("ref: refs/heads/ralph/x"), "refs/heads/ralph/x");
  for (const char* text :
       {"0123456789abcdef0123456789abcdef01234567\n", "", "ref: refs/heads/", "ref: refs/tags/x",
        "ref: refs/heads/../x", "ref: refs/heads/.invalid", "ref: refs/heads//x", "ref: refs/heads/x\ny"})
    EXPECT_EQ(branch_in_head(text), "") << text;
}

TEST(DotGit, FilesAreKnownByTheirNames) {
  EXPECT_TRUE(is_git_entry(".git") && is_git_entry("/x/.git"));
  EXPECT_FALSE(is_git_entry("x.git") || is_git_entry(".git/config"));
  EXPECT_TRUE(is_head(".git/HEAD") && is_head("a/.git/HEAD"));
  EXPECT_FALSE(is_head("x.git/HEAD") || is_head("HEAD"));
  EXPECT_TRUE(is_in_git_folder(".git/config"));
  EXPECT_FALSE(is_in_git_folder(".git") || is_in_git_folder("a/.git/config"));
}

}  // namespace
}  // namespace ralph
