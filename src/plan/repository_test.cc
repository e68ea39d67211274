#include "plan/repository.h"

#include <map>

#include <gtest/gtest.h>

#include "base/text.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

TEST(IsTestPath, KnowsTestsByTheirFoldersAndNames) {
  const char* const tests[] = {"tests/a.py",    "test/a.c",      "a/tests/b/c.txt", "src/__tests__/x.ts",
                               "spec/a.rb",     "specs/a.rb",    "e2e/login.ts",    "pkg/testing/x.go",
                               "Tests/A.swift", "TEST/x",        "test_a.py",       "src/test_a.py",
                               "test-a.sh",     "a_test.go",     "src/a_test.cc",   "a-test.js",
                               "a.test.ts",     "a.test.tsx",    "a_spec.rb",       "a.spec.ts",
                               "ATest.java",    "src/ATests.cs", "ASpec.scala",     "test.py",
                               "tests.rs",      "a/test.sh",     "test_a",          "a_test"};
  for (const char* path : tests) EXPECT_TRUE(is_test_path(path)) << path;
  const char* const others[] = {"src/a.py",       "latest.py",     "contest.go",   "Contest.java",
                                "src/attest/a.c", "protest",       "testament.md", "testdata.c",
                                "inspect.py",     "aspec.rb",      "README.md",    "",
                                "greatest/a.c",   "src/tests.d/a", "mytest.txt"};
  for (const char* path : others) EXPECT_FALSE(is_test_path(path)) << path;
}

// Git, as far as a test needs it: what it was asked, and what it answers to words that begin like this.
class FakeGit {
 public:
  void answer(std::string_view words, std::string output, int code = 0) {
    answers_[std::string(words)] = {code, std::move(output)};
  }
  Repository repository() {
    return Repository([this](const std::vector<std::string>& words) -> Result<GitEnd> {
      const std::string line = join(words, " ");
      asked.push_back(line);
      for (const auto& [begin, end] : answers_) {
        if (line.starts_with(begin)) return end;
      }
      return GitEnd{128, "fatal: not expected: " + line + "\nand more\n"};
    });
  }
  std::vector<std::string> asked;

 private:
  std::map<std::string, GitEnd, std::greater<>> answers_;  // the longer beginning first
};

TEST(Repository, IsThereInsideAWorkTree) {
  const auto exists = [](int code, const char* output) {
    FakeGit git;
    git.answer("rev-parse --is-inside-work-tree", output, code);
    return git.repository().exists().value();
  };
  EXPECT_TRUE(exists(0, "true\n"));
  EXPECT_FALSE(exists(0, "false\n")) << "inside .git, or a bare one";
  EXPECT_FALSE(exists(128, "fatal: not a git repository\n"));
}

TEST(Repository, NamesItsBranchAndItsHead) {
  FakeGit git;
  git.answer("symbolic-ref", "ralph/shop\n");
  git.answer("rev-parse -q --verify HEAD", "0123abc\n");
  git.answer("show-ref --verify -q refs/heads/main", "");
  git.answer("show-ref --verify -q refs/heads/", "", 1);
  const Repository repository = git.repository();
  EXPECT_EQ(repository.branch().value(), "ralph/shop");
  EXPECT_EQ(repository.head().value(), "0123abc");
  EXPECT_TRUE(repository.has_branch("main").value());
  EXPECT_FALSE(repository.has_branch("other").value());
}

TEST(Repository, HasNoBranchWhenDetachedAndNoHeadBeforeTheFirstCommit) {
  FakeGit git;
  git.answer("symbolic-ref", "", 1);
  git.answer("rev-parse -q --verify HEAD", "", 1);
  EXPECT_EQ(git.repository().branch().value(), std::nullopt);
  EXPECT_EQ(git.repository().head().value(), "");
}

TEST(Repository, UncommittedWorkIsEverythingButRalphsOwnFiles) {
  FakeGit git;
  git.answer("-c core.quotePath=false status --porcelain",
             " M src/a.c\n?? new file\n?? .ralph-active\n?? .ralph/\n M .ralph/settings.json\nR  a -> b\n"
             "?? ralph/tasks.json.rejected-20261115-1\n?? ralph/\nA  .ralph-activex\n?? sub/.ralph-active\n"
             "?? sub/.ralph/\n?? sub/.ralph/runs/x\n?? my.ralph/x\n");
  EXPECT_EQ(git.repository().uncommitted().value(),
            (std::vector<std::string>{" M src/a.c", "?? new file", "R  a -> b", "?? ralph/", "A  .ralph-activex",
                                      "?? my.ralph/x"}));
}

TEST(Repository, AFailureIsToldWithGitsFirstLine) {
  FakeGit git;
  const auto lines = git.repository().uncommitted();
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().message,
            "git status failed: fatal: not expected: -c core.quotePath=false status --porcelain");
  EXPECT_EQ(lines.error().kind, ErrorKind::kIo);
}

TEST(Repository, KnowsWhetherHistoryGoesOn) {
  FakeGit git;
  git.answer("merge-base --is-ancestor aaa HEAD", "");
  git.answer("merge-base --is-ancestor bbb HEAD", "", 1);
  EXPECT_TRUE(git.repository().is_ancestor("aaa").value());
  EXPECT_FALSE(git.repository().is_ancestor("bbb").value());
  EXPECT_FALSE(git.repository().is_ancestor("gone").value()) << "a commit that is not there is in no history";
}

TEST(Repository, GoesBackToABranchThatMayMoveOn) {
  FakeGit git;
  git.answer("show-ref", "");
  git.answer("merge-base --is-ancestor refs/heads/work HEAD", "");
  git.answer("update-ref refs/heads/work HEAD", "");
  git.answer("symbolic-ref HEAD refs/heads/work", "");
  EXPECT_TRUE(git.repository().go_back_to("work").value());
}

TEST(Repository, GoesBackToABranchThatWentAnotherWay) {
  FakeGit git;
  git.answer("show-ref", "");
  git.answer("merge-base", "", 1);
  EXPECT_FALSE(git.repository().go_back_to("work")) << "git refuses";
  git.answer("checkout -q work", "");
  EXPECT_FALSE(git.repository().go_back_to("work").value());
  for (const std::string& asked : git.asked) EXPECT_FALSE(asked.starts_with("update-ref")) << asked;
}

TEST(Repository, GoesBackToABranchThatWasDeleted) {
  FakeGit git;
  git.answer("show-ref", "", 1);
  git.answer("merge-base", "fatal\n", 128);
  git.answer("update-ref refs/heads/work HEAD", "");
  git.answer("symbolic-ref HEAD refs/heads/work", "");
  EXPECT_TRUE(git.repository().go_back_to("work").value());
}

constexpr std::string_view kDiff = "-c core.quotePath=false -c diff.relative=false diff --no-ext-diff --no-textconv ";

TEST(Repository, TellsWhichTestsWereLost) {
  FakeGit git;
  git.answer(
      fmt::format("{}-M --diff-filter=DTR --name-status abc", kDiff),
      "D\ttests/a.py\nD\tsrc/a.py\nT\ttests/link.py\nR100\ttests/b.py\ttests/c.py\nR090\ttests/d.py\ttests/e.py\n"
      "R100\ttests/f.py\tsrc/f.py\nR100\tsrc/g.py\ttests/g.py\n");
  git.answer(fmt::format("{}--no-renames --diff-filter=M --numstat abc", kDiff),
             "1\t9\ttests/h.py\n9\t1\ttests/i.py\n0\t5\tsrc/j.py\n-\t-\ttests/k.bin\n4\t4\ttests/l.py\nodd\n");
  git.answer("-c core.quotePath=false ls-files -v", "H tests/m.py\nS tests/n.py\nh tests/o.py\nS src/p.py\n\n");
  EXPECT_EQ(git.repository().lost_tests("abc").value(),
            (std::vector<std::string>{
                "deleted: tests/a.py", "no plain file any more: tests/link.py",
                "renamed and changed: tests/d.py (to tests/e.py)", "moved away: tests/f.py (to src/f.py)",
                "shortened: tests/h.py (9 lines removed, 1 added)", "changed, and called binary: tests/k.bin",
                "hidden from git: tests/n.py and tests/o.py"}));
}

TEST(Repository, OfManyHiddenTestsSomeAreNamed) {
  FakeGit git;
  git.answer(kDiff, "");
  std::string files;
  for (int i = 0; i < 9; ++i) files += fmt::format("S tests/{}.py\n", i);
  git.answer("-c core.quotePath=false ls-files -v", files);
  EXPECT_EQ(git.repository().lost_tests("abc").value(),
            std::vector<std::string>{
                "hidden from git: tests/0.py, tests/1.py, tests/2.py, tests/3.py, tests/4.py and 4 more"});
}

TEST(Repository, LosesNoTestsWhereNothingChanged) {
  FakeGit git;
  git.answer(kDiff, "");
  git.answer("-c core.quotePath=false ls-files -v", "H tests/m.py\n");
  EXPECT_TRUE(git.repository().lost_tests("abc").value().empty());
}

TEST(Repository, CannotCompareWithACommitThatIsGone) {
  FakeGit git;
  EXPECT_FALSE(git.repository().lost_tests("abc"));
}

TEST(Repository, CommitsThePathsThatChangedAndNoOther) {
  FakeGit git;
  git.answer("status --porcelain -- a", " M a\n");
  git.answer("status --porcelain -- b", "");
  git.answer("add -- a", "");
  git.answer("config user.email", "me@x\n");
  git.answer("-c core.hooksPath=/dev/null commit", "");
  EXPECT_TRUE(git.repository().commit({"a", "b"}, "ralph: so").value());
  EXPECT_EQ(git.asked.back(), "-c core.hooksPath=/dev/null commit -q --no-verify -m ralph: so -- a");
}

TEST(Repository, CommitsNothingWhereNothingChanged) {
  FakeGit git;
  git.answer("status --porcelain", "\n");
  EXPECT_FALSE(git.repository().commit({"a", "b"}, "x").value());
  EXPECT_EQ(git.asked.size(), 2U);
}

TEST(Repository, CommitsAsItselfWhereNobodyIsNamed) {
  FakeGit git;
  git.answer("status --porcelain", " M a\n");
  git.answer("add", "");
  git.answer("config user.email", "", 1);
  git.answer("-c user.name=ralph -c user.email=ralph@localhost", "");
  EXPECT_TRUE(git.repository().commit({"a"}, "x").value());
}

TEST(Repository, ACommitThatFailsIsAnError) {
  FakeGit git;
  git.answer("status --porcelain", " M a\n");
  git.answer("add", "");
  git.answer("config user.email", "me@x\n");
  git.answer("-c core.hooksPath=/dev/null commit", "error: disk full\n", 1);
  const auto done = git.repository().commit({"a"}, "x");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "git commit failed: error: disk full");
}

TEST(Repository, KeepsACommitUnderANameOfItsOwn) {
  FakeGit git;
  git.answer("update-ref refs/ralph/run/3 abc", "");
  EXPECT_TRUE(git.repository().keep("run/3", "abc"));
  EXPECT_FALSE(git.repository().keep("run/4", "abc"));
}

}  // namespace
}  // namespace ralph
