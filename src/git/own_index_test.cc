#include "git/own_index.h"

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

class OwnIndexTest : public testing::Test {
 protected:
  void SetUp() override {
    run({"init", "-q"});
    ASSERT_TRUE(make_directories(folder_ / "sub"));
    for (const char* name : {"a.py", "sub/b.py", "c.py"}) ScratchFolder::write(folder_ / name, "1\n");
    commit();
  }
  void run(const std::vector<std::string>& words) {
    const auto end = git_(words);
    ASSERT_TRUE(end && end->code == 0) << join(words, " ") << (end ? end->errors : end.error().message);
  }
  void commit() {
    run({"add", "-A"});
    run({"-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "files"});
  }
  OwnIndex index(const TakenIndex& taken = {}) {
    return OwnIndex(
        store_.path(),
        [this](const auto& more) {
          Environment environment = Environment::of_this_process();
          for (const auto& [name, value] : more) environment.set(name, value);
          return plain_git(GitPlace{folder_.path()}, environment);
        },
        taken);
  }
  static std::string found(const OwnIndex& index, OwnIndex::Extent extent = OwnIndex::Extent::kAll) {
    const auto changes = index.changes(extent);
    if (!changes) return changes.error().message;
    std::vector<std::string> names;
    for (const OwnIndex::Change& change : *changes) names.push_back((change.untracked ? "?" : "") + change.path);
    return join(names, "|");
  }

  ScratchFolder folder_, store_;
  Git git_ = plain_git(folder_.path());
};

TEST_F(OwnIndexTest, SeesWhatIsChangedDeletedAndNew) {
  OwnIndex own = index();
  EXPECT_EQ(found(own), "") << "it was never taken";
  ASSERT_FALSE(own.take().value().hash.empty());
  EXPECT_EQ(found(own), "");
  ScratchFolder::write(folder_ / "a.py", "2\n");
  ScratchFolder::write(folder_ / "new", "2\n");
  ASSERT_EQ(::unlink((folder_ / "c.py").c_str()), 0);
  EXPECT_EQ(found(own), "a.py|c.py|?new");
  EXPECT_EQ(found(own, OwnIndex::Extent::kTracked), "a.py|c.py");
  commit();
  EXPECT_EQ(found(own), "");
}

TEST_F(OwnIndexTest, ALockThatAKilledGitLeftIsRemoved) {
  ScratchFolder::write(store_ / "index.look.lock", "");
  OwnIndex own = index();
  const TakenIndex taken = own.take().value();
  ASSERT_FALSE(taken.hash.empty());
  ScratchFolder::write(folder_ / "a.py", "2\n");
  ScratchFolder::write(store_ / "index.look.lock", "");
  EXPECT_EQ(found(own), "a.py") << "with the index in memory";
  ScratchFolder::write(store_ / "index.look.lock", "");
  EXPECT_EQ(found(index(taken)), "a.py") << "in a resumed run";
}

TEST_F(OwnIndexTest, AFileWithTheRequestedLineEndingsIsUnchanged) {
  ScratchFolder::write(folder_ / ".gitattributes", "* text eol=crlf\n");
  commit();
  OwnIndex own = index();
  ASSERT_TRUE(own.take());
  ASSERT_EQ(::unlink((folder_ / "a.py").c_str()), 0);
  run({"checkout", "--", "a.py"});
  EXPECT_EQ(read_file(folder_ / "a.py").value(), "1\r\n") << "its size has changed";
  EXPECT_EQ(found(own), "");
  ScratchFolder::write(folder_ / "new", "2\n");
  commit();
  EXPECT_EQ(found(own), "") << "nor is it changed after another commit";
  ScratchFolder::write(folder_ / "a.py", "11\r\n");
  run({"update-index", "--assume-unchanged", "a.py"});
  EXPECT_EQ(found(own), "a.py") << "its content counts, whatever the repository's index says";
  EXPECT_EQ(found(own, OwnIndex::Extent::kTracked), "a.py");
}

TEST_F(OwnIndexTest, SeesAChangeThatGitMistakesForItsIdent) {
  OwnIndex own = index();
  ASSERT_TRUE(own.take());
  ScratchFolder::write(folder_ / ".gitattributes", "[attr]mine ident\na.py ident\nsub/* mine\n");
  ScratchFolder::write(folder_ / "a.py", "wrong $Id: right $\n");
  ScratchFolder::write(folder_ / "sub/b.py", "$Id: 1 $ $Id:\n$ $Id$\n");
  ScratchFolder::write(folder_ / "c.py", "wrong $Id: right $\n");
  commit();
  EXPECT_EQ(found(own), "a.py|sub/b.py") << "a clone lacks these changes, but has those of c.py";
  EXPECT_EQ(found(own, OwnIndex::Extent::kTracked), "a.py|sub/b.py");
  for (const char* name : {"a.py", "sub/b.py"}) {
    ASSERT_EQ(::unlink((folder_ / name).c_str()), 0);
    run({"checkout", "--", name});
  }
  EXPECT_EQ(found(own), "") << "git's own";
  ScratchFolder::write(folder_ / "a.py", read_file(folder_ / "a.py").value() + "more\n");
  ScratchFolder::write(folder_ / "sub/b.py", "$Id$ $Id: $\n");
  commit();
  EXPECT_EQ(found(own), "") << "an old one, and none";
}

TEST_F(OwnIndexTest, ACommittedIdentOfAnotherProgramIsUnchanged) {
  ScratchFolder::write(folder_ / "a.py", "$Id: a.py,v 1.2 2001/02/03 04:05:06 me Exp $\n");
  commit();
  ScratchFolder::write(folder_ / ".gitattributes", "*.py ident\n");
  commit();
  OwnIndex own = index();
  ASSERT_TRUE(own.take());
  EXPECT_EQ(found(own), "");
}

TEST_F(OwnIndexTest, SeesThroughLaterFlagsAndALaterSparseCheckout) {
  OwnIndex own = index();
  ASSERT_TRUE(own.take());
  run({"update-index", "--skip-worktree", "a.py"});
  run({"update-index", "--assume-unchanged", "c.py"});
  ScratchFolder::write(folder_ / "a.py", "2\n");
  ScratchFolder::write(folder_ / "c.py", "2\n");
  EXPECT_EQ(found(own), "a.py|c.py");
  run({"update-index", "--no-assume-unchanged", "c.py"});
  run({"checkout", "-q", "c.py"});
  run({"sparse-checkout", "set", "--no-cone", "/*", "!/sub/"});
  EXPECT_EQ(found(own), "a.py|sub/b.py");
}

TEST_F(OwnIndexTest, FilesThatTheUserLeftOutOrHidBeforeAreRespected) {
  run({"sparse-checkout", "set", "--no-cone", "/*", "!/sub/"});
  run({"update-index", "--assume-unchanged", "c.py"});
  ScratchFolder::write(folder_ / "c.py", "mine\n");
  OwnIndex own = index();
  const TakenIndex taken = own.take().value();
  EXPECT_EQ(found(own), "c.py");
  EXPECT_EQ(found(own, OwnIndex::Extent::kTracked), "");
  ScratchFolder::write(folder_ / "new", "2\n");
  run({"add", "new"});
  run({"-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "more"});
  EXPECT_EQ(found(own), "c.py") << "a commit changes nothing about it";
  EXPECT_EQ(found(index(taken)), "c.py") << "a later process continues with the copy";
}

// Like one that an agent of an earlier run wrote: the entry has the new file's times and size, and the old content.
TEST_F(OwnIndexTest, AnIndexThatWasForgedBeforeIsNotBelieved) {
  ScratchFolder::write(folder_ / "c.py", "222222\n");
  std::string index = read_file(folder_ / ".git/index").value();
  const size_t name = index.find(std::string("c.py\0", 5)), at = name - 62;
  ASSERT_NE(name, std::string::npos);
  struct stat info{};
  ASSERT_EQ(::lstat((folder_ / "c.py").c_str(), &info), 0);
  const auto put = [&](size_t offset, std::uint64_t value) {
    for (int i = 0; i < 4; ++i) index[at + offset + static_cast<size_t>(i)] = static_cast<char>(value >> (24 - 8 * i));
  };
  put(0, static_cast<std::uint64_t>(info.st_ctim.tv_sec));
  put(4, static_cast<std::uint64_t>(info.st_ctim.tv_nsec));
  put(8, static_cast<std::uint64_t>(info.st_mtim.tv_sec));
  put(12, static_cast<std::uint64_t>(info.st_mtim.tv_nsec));
  put(20, info.st_ino);
  put(36, static_cast<std::uint64_t>(info.st_size));
  index.replace(index.size() - 20, 20, std::string(20, '\0'));  // git treats that as an index without a hash
  ScratchFolder::write(folder_ / ".git/index", index);
  const timespec later[] = {{4'000'000'000, 0}, {4'000'000'000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / ".git/index").c_str(), later, 0), 0);
  const auto status = git_({"status", "--porcelain"});
  ASSERT_TRUE(status && status->output.empty()) << "git believes it: " << status->output << status->errors;
  OwnIndex own = this->index();
  const TakenIndex taken = own.take().value();
  ASSERT_EQ(taken.hidden.size(), 1U);
  EXPECT_TRUE(taken.hidden.contains("c.py")) << "reported at the start";
  EXPECT_EQ(found(own), "") << "it is not a change of this run";
  ScratchFolder::write(folder_ / "c.py", "333333\n");
  EXPECT_EQ(found(own), "c.py");
}

TEST_F(OwnIndexTest, ACopyThatSomebodyChangedIsNotUsed) {
  OwnIndex own = index();
  const TakenIndex taken = own.take().value();
  run({"update-index", "--skip-worktree", "a.py"});
  ScratchFolder::write(folder_ / "a.py", "2\n");
  ScratchFolder::write(store_ / "index", read_file(folder_ / ".git/index").value());
  EXPECT_EQ(found(own), "a.py");
  EXPECT_EQ(found(index(taken)), "a.py") << "in a later process";
  std::filesystem::remove_all(store_.path());
  EXPECT_EQ(found(own), "a.py");
  EXPECT_EQ(found(index(taken)), "a.py");
}

TEST_F(OwnIndexTest, AnIndexOfTwoFilesIsCopiedWhole) {
  run({"update-index", "--split-index"});
  run({"update-index", "--untracked-cache"});
  OwnIndex own = index();
  ASSERT_FALSE(own.take().value().hash.empty());
  for (const std::string& name : names_in(folder_ / ".git")) {
    if (name.starts_with("sharedindex")) ::unlink((folder_ / (".git/" + name)).c_str());
  }
  ScratchFolder::write(folder_ / "c.py", "3\n");
  EXPECT_EQ(found(own), "c.py");
}

TEST_F(OwnIndexTest, ARepositoryWithoutACommitHasNewFilesOnly) {
  ScratchFolder empty;
  ASSERT_TRUE(plain_git(empty.path())({"init", "-q"}));
  OwnIndex own(store_.path(), [&](const auto& more) {
    Environment environment = Environment::of_this_process();
    for (const auto& [name, value] : more) environment.set(name, value);
    return plain_git(GitPlace{empty.path()}, environment);
  });
  ASSERT_FALSE(own.take().value().hash.empty());
  ScratchFolder::write(empty / "new", "1\n");
  EXPECT_EQ(found(own), "?new");
}

// git is asked where the repository is only once, unless the answer may have changed.
TEST_F(OwnIndexTest, ARepositoryThatIsReplacedOrWhoseWorkTreeMovesIsNotTakenForTheOldOne) {
  OwnIndex own = index();
  ASSERT_FALSE(own.take().value().hash.empty());
  ScratchFolder::write(folder_ / "a.py", "2\n");
  EXPECT_EQ(found(own), "a.py");
  const ScratchFolder elsewhere;
  run({"config", "core.worktree", elsewhere.path()});
  EXPECT_NE(found(own), "a.py") << "files elsewhere are compared, or none";
  run({"config", "--unset", "core.worktree"});
  EXPECT_EQ(found(own), "a.py");
  ASSERT_EQ(::rename((folder_ / ".git").c_str(), (folder_ / "old").c_str()), 0);
  EXPECT_EQ(found(own), "") << "nothing is known about no repository";
}

}  // namespace
}  // namespace ralph
