#include "git/repository.h"

#include <map>

#include <gtest/gtest.h>

#include "base/text.h"
#include "git/own_paths.h"

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

// A fake git: records the commands, and answers by their prefix.
class FakeGit {
 public:
  void answer(std::string_view words, std::string output, int code = 0) {
    answers_[std::string(words)] = code == 0 ? GitEnd{0, std::move(output), {}} : GitEnd{code, {}, std::move(output)};
  }
  // A warning from git, which must never be mistaken for an answer.
  void warn(std::string warning) { warning_ = std::move(warning); }
  Repository repository() {
    return Repository(
        [this](const std::vector<std::string>& words) -> Result<GitEnd> {
          const std::string line = join(words, " ");
          asked.push_back(line);
          for (const auto& [begin, end] : answers_) {
            if (line.starts_with(begin)) return GitEnd{end.code, end.output, warning_ + end.errors, end.cut};
          }
          return GitEnd{128, "", warning_ + "fatal: not expected: " + line + "\nand more\n"};
        },
        "/p");
  }
  std::vector<std::string> asked;

 private:
  std::map<std::string, GitEnd, std::greater<>> answers_;  // longest prefix first
  std::string warning_;
};

// Fields with the terminators of `git -z`.
std::string z(std::string_view fields) {
  std::string text = replace_all(fields, "|", std::string_view("\0", 1));
  return text.empty() ? text : text + '\0';
}

TEST(Repository, ExistsInsideAWorkTree) {
  const auto exists = [](int code, const char* output) {
    FakeGit git;
    git.warn("warning: refname 'HEAD' is ambiguous.\n");
    git.answer("rev-parse --is-inside-work-tree", output, code);
    return git.repository().exists();
  };
  EXPECT_TRUE(exists(0, "true\n").value());
  EXPECT_FALSE(exists(128, "fatal: not a git repository (or any of the parent directories): .git\n").value());
  EXPECT_FALSE(exists(128, "fatal: not a git repository (or any parent up to mount point /mnt)\n").value());

  const auto why = [&](int code, const char* output) { return exists(code, output).error().message; };
  EXPECT_NE(why(0, "false\n").find("core.worktree"), std::string::npos) << "inside .git, a bare one, or elsewhere";
  EXPECT_EQ(why(128, "fatal: not a git repository: /gone\n"),
            "git refuses to open the repository of /p: fatal: not a git repository: /gone; fix that first");
  EXPECT_EQ(why(128,
                "fatal: detected dubious ownership in repository at '/p'\nTo add an exception for this directory, "
                "call:\n\n\tgit config --global --add safe.directory /p\n"),
            "git refuses to open the repository of /p: fatal: detected dubious ownership in repository at '/p'; if you "
            "trust it, run: git config --global --add safe.directory /p");
}

TEST(Repository, NamesItsWorkTree) {
  FakeGit git;
  git.answer("rev-parse --show-toplevel", "/home/me/odd \nname\n");
  EXPECT_EQ(git.repository().work_tree().value(), "/home/me/odd \nname");
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
  git.answer("rev-parse -q --verify HEAD", "fatal: bad config line 1\n", 128);
  EXPECT_FALSE(git.repository().head()) << "that is not an answer";
}

TEST(Repository, UncommittedWorkIsEverythingButRalphsOwnFiles) {
  FakeGit git;
  git.warn("warning: could not open directory 'pgdata/': Permission denied\n");
  git.answer("status --porcelain -z --untracked-files=normal",
             z(" M src/a.c|?? new file|?? .ralph-active|?? .ralph/| M .ralph/settings.json|R  b|a|"
               "?? ralph/tasks.json.rejected-20261115-1|?? ralph/|A  .ralph-activex|?? a b/.ralph-active|"
               "?? sub/.ralph/|?? sub/.ralph/runs/x|?? my.ralph/x|R  .ralph/c|src/c|R  .ralph/d|.ralph/e|?? a\nb"));
  EXPECT_EQ(git.repository().uncommitted().value(),
            (std::vector<std::string>{" M src/a.c", "?? new file", "R  a -> b", "?? ralph/", "A  .ralph-activex",
                                      "?? my.ralph/x", "R  src/c -> .ralph/c", "?? a b"}));
}

TEST(IsOwnPath, KnowsTheNamesThatRalphMakes) {
  const char* const own[] = {".ralph-active",
                             "sub/.ralph-active",
                             ".ralph/",
                             ".ralph/x/y",
                             "a b/.ralph/x",
                             "ralph/tasks.json.rejected-20261115-202233-7f3a-1",
                             "plans/next/prd.md.rejected-20261115-202233-7f3a-1-2",
                             "prompt.md.rejected-x-1",
                             "ralph/tasks.json.rejected-x-1/",
                             ".ralph-active.rejected-folder",
                             ".ralph-active.rejected-x-1/",
                             "ralph.rejected-file",
                             "sub/ralph.rejected-file-2"};
  for (const char* path : own) EXPECT_TRUE(is_own_path(path)) << path;
  const char* const others[] = {"",
                                ".ralph",
                                "a.ralph/x",
                                ".ralph-activex",
                                ".ralph-active/x",
                                "work.rejected-1.py",
                                "src.rejected-1/",
                                "tasks.json",
                                "mytasks.json.rejected-1",
                                "tasks.json.rejected-1/work.py",
                                "ralph.rejected-files",
                                "x.rejected-file"};
  for (const char* path : others) EXPECT_FALSE(is_own_path(path)) << path;
}

TEST(Repository, AFailureIsReportedWithGitsFirstLine) {
  FakeGit git;
  git.warn("12:00:00.0 git.c:439 trace: built-in: git status\n");
  const auto lines = git.repository().uncommitted();
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().message,
            "git status failed: fatal: not expected: status --porcelain -z --untracked-files=normal");
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

constexpr std::string_view kDiff = "-c diff.relative=false diff -z ";

TEST(Repository, TellsWhichTestsWereLost) {
  FakeGit git;
  git.answer(fmt::format("{}-M --diff-filter=DTR --name-status abc", kDiff),
             z("D|tests/a.py|D|src/a.py|T|tests/link.py|R100|tests/b.py|tests/c.py|R090|tests/d.py|tests/e.py|"
               "R100|tests/f.py|src/f.py|R100|src/g.py|tests/g.py|D|tests/q\n\tr.py"));
  git.answer(fmt::format("{}--no-renames --diff-filter=M --numstat abc", kDiff),
             z("1\t9\ttests/h.py|9\t1\ttests/i.py|0\t5\tsrc/j.py|-\t-\ttests/k.bin|4\t4\ttests/l.py|odd|a\tb"));
  git.answer("ls-files -v -z", z("H tests/m.py|S tests/n.py|h tests/o.py|S src/p.py|"));
  EXPECT_EQ(git.repository().lost_tests("abc").value(),
            (std::vector<std::string>{
                "deleted: tests/a.py", "no longer a plain file: tests/link.py",
                "renamed and changed: tests/d.py (to tests/e.py)", "moved away: tests/f.py (to src/f.py)",
                "deleted: tests/q  r.py", "shortened: tests/h.py (9 lines removed, 1 added)",
                "changed, and marked as binary: tests/k.bin", "hidden from git: tests/n.py and tests/o.py"}));
}

TEST(Repository, OfManyHiddenTestsSomeAreNamed) {
  FakeGit git;
  git.answer(kDiff, "");
  std::string files;
  for (int i = 0; i < 9; ++i) files += z(fmt::format("S tests/{}.py", i));
  git.answer("ls-files -v -z", files);
  EXPECT_EQ(git.repository().lost_tests("abc").value(),
            std::vector<std::string>{
                "hidden from git: tests/0.py, tests/1.py, tests/2.py, tests/3.py, tests/4.py and 4 more"});
}

TEST(Repository, LosesNoTestsWhereNothingChanged) {
  FakeGit git;
  git.answer(kDiff, "");
  git.answer("ls-files -v -z", z("H tests/m.py"));
  EXPECT_TRUE(git.repository().lost_tests("abc").value().empty());
}

TEST(Repository, ATruncatedAnswerIsAnError) {
  const Repository repository(
      [](const std::vector<std::string>&) -> Result<GitEnd> { return GitEnd{0, std::string(2048, 'x'), "", true}; });
  const auto lost = repository.lost_tests("abc");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().message, "git diff printed more than 2.0 KB, too much to process");
}

TEST(Repository, CannotCompareWithACommitThatIsGone) {
  FakeGit git;
  EXPECT_FALSE(git.repository().lost_tests("abc"));
}

TEST(Repository, CommitsThePathsThatChangedAndNoOther) {
  FakeGit git;
  git.answer("status --porcelain -z --untracked-files=normal -- a", z(" M a"));
  git.answer("status --porcelain -z --untracked-files=normal -- b", "");
  git.answer("add -- a", "");
  git.answer("config user.email", "me@x\n");
  git.answer("commit", "");
  EXPECT_TRUE(git.repository().commit({"a", "b"}, "ralph: so").value());
  EXPECT_EQ(git.asked.back(), "commit -q --no-verify -m ralph: so -- a");
}

TEST(Repository, CommitsNothingWhereNothingChanged) {
  FakeGit git;
  git.answer("status --porcelain", "");
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
  git.answer("commit", "error: disk full\n", 1);
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
