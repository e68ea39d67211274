#include "git/loose_head.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "base/text.h"
#include "git/git.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

class LooseHeadTest : public testing::Test {
 protected:
  void SetUp() override {
    git({"init", "-q", "-b", "main"});
    commit();
  }
  std::string git(const std::vector<std::string>& words) {
    const auto end = plain_git(folder_.path())(words);
    EXPECT_TRUE(end && end->code == 0) << join(words, " ");
    return end ? std::string(trim(end->output)) : "";
  }
  void commit() {
    git({"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "--allow-empty", "-m", "x"});
  }
  std::string dir() const { return join_path(folder_.path(), ".git"); }
  std::optional<LooseHead> head() const { return read_loose_head(dir(), dir()); }
  std::string of_git() { return git({"rev-parse", "HEAD"}); }

  ScratchFolder folder_;
};

TEST_F(LooseHeadTest, IsWhatGitSays) {
  ASSERT_TRUE(head());
  EXPECT_EQ(head()->commit, of_git());
  const std::string first = head()->commit;
  commit();
  EXPECT_EQ(checked_out_commit(folder_.path()), of_git());
  EXPECT_NE(checked_out_commit(folder_.path()), first);
}

TEST_F(LooseHeadTest, LeavesWhatIsPackedOrDetachedToGit) {
  git({"pack-refs", "--all"});
  EXPECT_FALSE(head());
  EXPECT_EQ(checked_out_commit(folder_.path()), of_git());
  commit();
  ASSERT_TRUE(head());
  git({"repack", "-adq"});
  git({"prune-packed", "-q"});
  EXPECT_FALSE(head()) << "the commit is packed";
  git({"checkout", "-q", "--detach"});
  EXPECT_FALSE(head());
  EXPECT_EQ(checked_out_commit(folder_.path()), of_git());
}

TEST_F(LooseHeadTest, KnowsTheBranchBeforeItsFirstCommitToo) {
  EXPECT_EQ(read_branch(folder_.path()), "main");
  git({"checkout", "-q", "--orphan", "feature/new"});
  EXPECT_EQ(read_branch(folder_.path()), "feature/new");
  EXPECT_EQ(checked_out_commit(folder_.path()), "");
  ASSERT_TRUE(replace_file(join_path(dir(), "HEAD"), "ref: refs/heads/.invalid\n"));
  EXPECT_EQ(read_branch(folder_.path()), std::nullopt) << "as with reftables";
}

TEST_F(LooseHeadTest, BelievesNoRefThatNamesNoCommit) {
  ASSERT_TRUE(replace_file(join_path(dir(), "refs/heads/main"), std::string(40, 'a') + "\n"));
  EXPECT_FALSE(head());
  ASSERT_TRUE(replace_file(join_path(dir(), "refs/heads/main"), "not a commit\n"));
  EXPECT_FALSE(head());
  ASSERT_TRUE(replace_file(join_path(dir(), "HEAD"), "ref: refs/heads/../../config\n"));
  EXPECT_FALSE(head());
}

TEST_F(LooseHeadTest, IsEmptyWithoutARepository) {
  const ScratchFolder other;
  EXPECT_EQ(checked_out_commit(other.path()), "");
}

TEST_F(LooseHeadTest, WhereTheEnvironmentNamesARepositoryGitIsAsked) {
  ASSERT_TRUE(is_own_repository(folder_.path()));
  for (const char* name : {"GIT_DIR", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"}) {
    ASSERT_EQ(::setenv(name, "/elsewhere", 1), 0);
    EXPECT_FALSE(is_own_repository(folder_.path())) << name;
    EXPECT_FALSE(read_loose_head(folder_.path())) << name;
    EXPECT_FALSE(read_branch(folder_.path())) << name;
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace ralph
