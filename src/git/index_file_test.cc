#include "git/index_file.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "git/git.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

class IndexFileTest : public testing::Test {
 protected:
  void SetUp() override {
    run({"init", "-q"});
    ASSERT_TRUE(make_directories(folder_ / "sub"));
    for (const std::string& name : names_) ScratchFolder::write(folder_ / name, name);
    run({"add", "-A"});
  }
  void run(const std::vector<std::string>& words) {
    const auto end = plain_git(folder_.path())(words);
    ASSERT_TRUE(end && end->code == 0) << join(words, " ") << (end ? end->errors : end.error().message);
  }
  std::string bytes() const { return read_file(folder_ / ".git/index").value(); }
  // "path" or "path!" for one that is overlooked; "?" if only git can tell.
  std::string read() const {
    const auto entries = read_index(bytes());
    if (!entries) return "?";
    std::vector<std::string> shown;
    for (const IndexEntry& entry : *entries) shown.push_back(entry.path + (entry.hidden ? "!" : ""));
    return join(shown, "|");
  }

  // Entries are padded to a multiple of eight: names of every length show whether that is understood.
  const std::vector<std::string> names_ = {"a",      "ab",      "abc",      "abcd",   "abcde",
                                           "abcdef", "abcdefg", "abcdefgh", "sub/ü x"};
  ScratchFolder folder_;
};

TEST_F(IndexFileTest, HasTheNamesThatGitLists) {
  EXPECT_EQ(read(), join(names_, "|"));
  EXPECT_TRUE(hides_nothing(folder_.path()));
}

TEST_F(IndexFileTest, SeesBothFlags) {
  run({"update-index", "--assume-unchanged", "ab"});
  EXPECT_EQ(read(), replace_all(join(names_, "|"), "|ab|", "|ab!|"));
  EXPECT_FALSE(hides_nothing(folder_.path()));
  run({"update-index", "--no-assume-unchanged", "ab"});
  EXPECT_TRUE(hides_nothing(folder_.path()));
  run({"update-index", "--skip-worktree", "abcde"});
  EXPECT_EQ(read(), replace_all(join(names_, "|"), "|abcde|", "|abcde!|")) << "which is version 3";
  EXPECT_FALSE(hides_nothing(folder_.path()));
}

TEST_F(IndexFileTest, AFileThatIsOnlyAnnouncedIsNotOverlooked) {
  ScratchFolder::write(folder_ / "later", "");
  run({"add", "--intent-to-add", "later"});
  EXPECT_EQ(read(), replace_all(join(names_, "|"), "|sub/", "|later|sub/"));
  EXPECT_TRUE(hides_nothing(folder_.path()));
}

TEST_F(IndexFileTest, LeavesToGitWhatOnlyGitCanTell) {
  run({"update-index", "--index-version", "4"});
  EXPECT_EQ(read(), "?") << "names are compressed";
  run({"update-index", "--index-version", "2"});
  EXPECT_NE(read(), "?");
  run({"update-index", "--split-index"});
  EXPECT_EQ(read(), "?") << "most entries are in another file";
  EXPECT_FALSE(hides_nothing(folder_.path()));
}

TEST_F(IndexFileTest, LeavesARepositoryOfLongObjectNamesToGit) {
  const ScratchFolder other;
  const Git git = plain_git(other.path());
  const auto made = git({"init", "-q", "--object-format=sha256"});
  if (!made || made->code != 0) GTEST_SKIP() << "this git knows no sha256";
  for (const char* name : {"one", "two", "three"}) ScratchFolder::write(other / name, name);
  ASSERT_EQ(git({"add", "-A"}).value().code, 0);
  ASSERT_EQ(git({"update-index", "--assume-unchanged", "two"}).value().code, 0);
  EXPECT_FALSE(hides_nothing(other.path()));
}

// An agent can write to the index.
TEST_F(IndexFileTest, LeavesAForgedIndexToGit) {
  const std::string whole = bytes();
  std::string longer = whole;
  longer[12 + 61] = 9;  // the first name, "a", is said to have nine bytes: git finds the next entry later
  EXPECT_FALSE(read_index(longer));
  const size_t end = whole.size() - 20;
  for (const std::string name : {"IEOT", "ABCD", "link"}) {
    const std::string extension = name + std::string("\0\0\0\4next", 8);
    EXPECT_FALSE(read_index(whole.substr(0, end) + extension + whole.substr(end))) << name;
  }
  const std::string harmless("REUC\0\0\0\4next", 12);
  EXPECT_TRUE(read_index(whole.substr(0, end) + harmless + whole.substr(end)));
}

TEST_F(IndexFileTest, ReadsNamesOfAnyLength) {
  std::string name(4200, 'n');  // longer than the flags can say
  for (size_t at = 200; at < name.size(); at += 200) name[at] = '/';
  const std::string object = std::string(plain_git(folder_.path())({"hash-object", "-w", "a"}).value().output);
  run({"update-index", "--add", "--cacheinfo", "100644," + std::string(trim(object)) + "," + name});
  EXPECT_EQ(read(), replace_all(join(names_, "|"), "|sub/", "|" + name + "|sub/"));
}

TEST_F(IndexFileTest, NoCutAndNoChangedByteIsReadBeyondItsEnd) {
  const std::string whole = bytes();
  for (size_t size = 0; size < whole.size(); ++size) read_index(std::string(whole.substr(0, size)));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(~changed[at]);
    read_index(changed);
  }
  EXPECT_FALSE(read_index(whole.substr(0, whole.size() / 2)));
  std::string huge = whole;
  huge[8] = huge[9] = '\x7f';
  EXPECT_FALSE(read_index(huge)) << "more entries than there are bytes";
}

TEST_F(IndexFileTest, WithoutAnIndexOrARepositoryGitIsAsked) {
  EXPECT_FALSE(hides_nothing(folder_ / "sub"));
  ASSERT_EQ(::unlink((folder_ / ".git/index").c_str()), 0);
  EXPECT_FALSE(hides_nothing(folder_.path()));
}

}  // namespace
}  // namespace ralph
