#include "git/hidden_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "git/checked_tree.h"
#include "git/fingerprint.h"
#include "git/tree_state.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

class HiddenFiles : public testing::Test {
 protected:
  void SetUp() override {
    run({"init", "-q"});
    ASSERT_EQ(::mkdir((folder_ / "sub").c_str(), 0755), 0);
    for (const char* name : {"a.py", "odd\nname", "sub/b.py", "c.py"}) ScratchFolder::write(folder_ / name, "1\n");
    ASSERT_EQ(::symlink("a.py", (folder_ / "link").c_str()), 0);
    run({"add", "-A"});
    run({"-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "files"});
  }
  void run(const std::vector<std::string>& words) {
    const auto end = git_(words);
    ASSERT_TRUE(end && end->code == 0) << join(words, " ") << (end ? end->errors : end.error().message);
  }
  std::string changes(const Git& git) {
    const auto files = hidden_files(git);
    if (!files) return files.error().message;
    const auto found = hidden_changes(git, folder_.path(), *files);
    if (!found) return found.error().message;
    std::vector<std::string> names;
    for (const HiddenChange& change : *found) names.push_back((change.deleted ? "-" : "") + change.path);
    return join(names, "|");
  }
  std::string changes() { return changes(git_); }

  ScratchFolder folder_;
  Git git_ = plain_git(folder_.path());
};

TEST_F(HiddenFiles, AFlagAloneIsNoChange) {
  EXPECT_TRUE(hidden_files(git_).value().empty());
  run({"update-index", "--assume-unchanged", "a.py", "link"});
  run({"update-index", "--skip-worktree", "sub/b.py", "a.py", "odd\nname"});
  EXPECT_EQ(hidden_files(git_).value().size(), 4U);
  EXPECT_EQ(changes(), "");
}

TEST_F(HiddenFiles, ContentKindModeAndAbsenceTell) {
  run({"update-index", "--assume-unchanged", "a.py", "link"});
  run({"update-index", "--skip-worktree", "sub/b.py", "odd\nname", "c.py"});
  ScratchFolder::write(folder_ / "a.py", "2\n");
  EXPECT_EQ(changes(), "a.py") << "of the same size";
  ScratchFolder::write(folder_ / "odd\nname", "more\n");
  EXPECT_EQ(changes(), "a.py|odd\nname");
  EXPECT_EQ(changes(plain_git(folder_ / "sub")), "a.py|odd\nname") << "wherever git runs";
  ScratchFolder::write(folder_ / "a.py", "1\n");
  ASSERT_EQ(::chmod((folder_ / "sub/b.py").c_str(), 0755), 0);
  EXPECT_EQ(changes(), "sub/b.py|odd\nname");
  ASSERT_EQ(::unlink((folder_ / "link").c_str()), 0);
  ASSERT_EQ(::symlink("c.py", (folder_ / "link").c_str()), 0);
  EXPECT_EQ(changes(), "link|sub/b.py|odd\nname");
  ASSERT_EQ(::unlink((folder_ / "link").c_str()), 0);
  ASSERT_EQ(::unlink((folder_ / "c.py").c_str()), 0);
  EXPECT_EQ(changes(), "-c.py|-link|sub/b.py|odd\nname");
}

TEST_F(HiddenFiles, WhatASparseCheckoutLeavesOutIsNoChange) {
  run({"sparse-checkout", "set", "--no-cone", "/*", "!/sub/"});
  EXPECT_EQ(hidden_files(git_).value().size(), 1U);
  EXPECT_EQ(changes(), "");
}

TEST_F(HiddenFiles, AFilterOfTheRepositoryCannotHideAChange) {
  run({"config", "filter.f.clean", "echo 1"});
  ScratchFolder::write(folder_ / ".git/info/attributes", "a.py filter=f\n");
  run({"update-index", "--assume-unchanged", "a.py"});
  ScratchFolder::write(folder_ / "a.py", "2\n");
  EXPECT_EQ(changes(), "a.py");
}

TEST_F(HiddenFiles, EveryCheckOfTheTreeSeesThem) {
  const Environment environment = Environment::of_this_process();
  const Repository repository(git_, folder_.path());
  run({"update-index", "--skip-worktree", "a.py"});
  EXPECT_TRUE(tree_state(repository, folder_.path()).value().uncommitted.empty());
  const std::string print = tree_fingerprint(folder_.path(), environment);
  ASSERT_FALSE(print.empty());
  CheckedTree checked(git_, "/nowhere");
  ASSERT_TRUE(checked.remember());
  EXPECT_EQ(checked.changed().value(), std::optional(false));
  ScratchFolder::write(folder_ / "a.py", "longer\n");
  EXPECT_EQ(checked.changed().value(), std::optional(true));
  EXPECT_NE(tree_fingerprint(folder_.path(), environment), print);
  const TreeState state = tree_state(repository, folder_.path()).value();
  ASSERT_EQ(state.uncommitted.count("a.py"), 1U);
  EXPECT_TRUE(is_hidden(state.uncommitted.at("a.py")));
}

TEST_F(HiddenFiles, AFailedAnswerIsAnError) {
  const Git broken = [](const std::vector<std::string>&) -> Result<GitEnd> {
    return GitEnd{128, "", "fatal: index file corrupt\n"};
  };
  EXPECT_EQ(hidden_files(broken).error().message, "git can't say what it overlooks: fatal: index file corrupt");
}

}  // namespace
}  // namespace ralph
