#include "engine/scm_command.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(ScmCommands, FollowTheirTable) {
  struct Row {
    const char* situation;
    std::string scm, task, message;
    bool add_all;
    std::vector<Argv> commands;
  };
  const Row rows[] = {
      {"a commit adds new files first",
       "git",
       "commit",
       "Fix it",
       true,
       {{"git", "add", "-A"}, {"git", "commit", "-am", "Fix it"}}},
      {"unless that is turned off", "git", "commit", "Fix it", false, {{"git", "commit", "-am", "Fix it"}}},
      {"a commit with arguments of its own",
       "git",
       "commit --no-verify",
       "Fix it",
       false,
       {{"git", "commit", "--no-verify", "-am", "Fix it"}}},
      {"another task", "git", "push", "Fix it", true, {{"git", "push"}}},
      {"another task with arguments",
       "git",
       "push origin 'my branch'",
       "",
       true,
       {{"git", "push", "origin", "my branch"}}},
      {"an SCM of several words",
       "git -C 'a b'",
       "commit",
       "x",
       true,
       {{"git", "-C", "a b", "add", "-A"}, {"git", "-C", "a b", "commit", "-am", "x"}}},
      {"a message is one word, whatever is in it",
       "git",
       "commit",
       "-x \"$(id)\"; 'a'",
       false,
       {{"git", "commit", "-am", "-x \"$(id)\"; 'a'"}}},
      {"a task that is no shell text is passed on whole", "git", "tag 'x", "", true, {{"git", "tag 'x"}}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(scm_commands(row.scm, row.task, row.message, row.add_all), row.commands) << row.situation;
  }
}

TEST(IsCommit, LooksAtTheFirstWord) {
  for (const char* task : {"commit", " commit ", "commit --amend", "'commit'"}) EXPECT_TRUE(is_commit(task)) << task;
  for (const char* task : {"", "push", "committed", "commit-tree", "push commit", "Commit"}) {
    EXPECT_FALSE(is_commit(task)) << task;
  }
}

TEST(SaysNothingToCommit, KnowsTheWordsOfScms) {
  const char* yes[] = {
      "On branch main\nnothing to commit, working tree clean\n",
      "nothing added to commit but untracked files present (use \"git add\" to track)\n",
      "no changes added to commit (use \"git add\" and/or \"git commit -a\")\n",
      "nothing changed\n",
      "NOTHING TO COMMIT",
  };
  for (const char* output : yes) EXPECT_TRUE(says_nothing_to_commit(output)) << output;
  for (const char* output : {"", "fatal: not a git repository", "[main 1234567] Commit nothing"}) {
    EXPECT_FALSE(says_nothing_to_commit(output)) << output;
  }
}

}  // namespace
}  // namespace ralph
