#include "os/files.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

class FilesTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(FilesTest, ReadsAFileWhole) {
  const std::string content = std::string(100'000, 'x') + std::string("\0\xff\n", 3);
  ScratchFolder::write(folder_ / "f", content);
  EXPECT_EQ(read_file(folder_ / "f"), content);
  ScratchFolder::write(folder_ / "empty", "");
  EXPECT_EQ(read_file(folder_ / "empty"), "");
}

TEST_F(FilesTest, ReadsAFileOfUnknownSize) {
  const auto content = read_file("/proc/self/status");
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->starts_with("Name:"));
}

// Anybody who can write to the folder could make us wait, or use up all memory.
TEST_F(FilesTest, NeitherWaitsForAPipeNorReadsAnEndlessFile) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder_ / "pipe").error().message,
            "cannot read " + folder_ / "pipe" + ": it is a pipe, not a file");
  ScratchFolder::write(folder_ / "huge", "");
  ASSERT_EQ(::truncate((folder_ / "huge").c_str(), 1LL << 40), 0);
  EXPECT_EQ(read_file(folder_ / "huge").error().message, "cannot read " + folder_ / "huge" + ": File too large");
  fs::create_symlink("/dev/zero", folder_ / "zero");
  EXPECT_FALSE(read_file(folder_ / "zero"));
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST_F(FilesTest, ReadsWithoutFollowingAnyLink) {
  fs::create_directories(folder_ / "a/b");
  ScratchFolder::write(folder_ / "a/b/f", "text");
  fs::create_symlink("b", folder_ / "a/link");
  fs::create_symlink("f", folder_ / "a/b/g");
  EXPECT_EQ(read_without_links(folder_ / "a/b/f", 4), "text");
  EXPECT_FALSE(read_without_links(folder_ / "a/b/f", 3));
  EXPECT_FALSE(read_without_links(folder_ / "a/link/f", 4));
  EXPECT_FALSE(read_without_links(folder_ / "a/b/g", 4));
  EXPECT_FALSE(read_without_links(folder_ / "a/b", 4));
}

TEST_F(FilesTest, APathThroughAFolderOfOthersMustEndThere) {
  fs::create_directories(folder_ / "theirs/deep");
  fs::create_directories(folder_ / "mine");
  ScratchFolder::write(folder_ / "mine/secret", "secret");
  ScratchFolder::write(folder_ / "theirs/f", "theirs");
  fs::create_symlink("../mine/secret", folder_ / "theirs/out");
  fs::create_symlink("../../mine", folder_ / "theirs/deep/away");
  fs::create_symlink("f", folder_ / "theirs/within");
  fs::create_symlink("theirs", folder_ / "alias");
  fs::create_symlink("secret", folder_ / "mine/alias");
  const std::vector<std::string> theirs = {folder_ / "theirs"};
  for (const char* good : {"theirs/f", "theirs/within", "alias/f"})
    EXPECT_EQ(read_within(folder_ / good, theirs), "theirs") << good;
  for (const char* good : {"mine/secret", "mine/alias"})
    EXPECT_EQ(read_within(folder_ / good, theirs), "secret") << good;
  for (const char* bad : {"theirs/out", "theirs/deep/away/secret", "alias/out", "alias/deep/away/secret"})
    EXPECT_FALSE(read_within(folder_ / bad, theirs)) << bad;
  EXPECT_EQ(read_within(folder_ / "theirs/out", {}), "secret");  // not a folder that others can write to
}

TEST_F(FilesTest, AFolderBelowIsMadeAndNotReachedByALink) {
  fs::create_symlink("/tmp", folder_ / "link");
  EXPECT_TRUE(open_folder_below(folder_.path(), "a/b/f"));
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b"));
  EXPECT_FALSE(open_folder_below(folder_.path(), "link/f"));
}

TEST_F(FilesTest, SaysWhichFileCannotBeReadAndWhy) {
  const auto missing = read_file(folder_ / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(missing.error().message, "cannot read " + folder_ / "missing" + ": No such file or directory");
  const auto folder = read_file(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, ErrorKind::kIo);
  EXPECT_EQ(folder.error().message, "cannot read " + folder_.path() + ": Is a directory");
}

TEST_F(FilesTest, TellsKindsOfFilesApart) {
  ScratchFolder::write(folder_ / "plain", "");
  ScratchFolder::write(folder_ / "program", "");
  fs::permissions(folder_ / "program", fs::perms::owner_all);
  fs::create_symlink("plain", folder_ / "link");
  fs::create_symlink("nowhere", folder_ / "dangling");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  struct Row {
    std::string path;
    bool exists, directory, regular, executable;
  };
  const Row rows[] = {
      {folder_.path(), true, true, false, false},         {folder_ / "plain", true, false, true, false},
      {folder_ / "program", true, false, true, true},     {folder_ / "link", true, false, true, false},
      {folder_ / "dangling", false, false, false, false}, {folder_ / "pipe", true, false, false, false},
      {folder_ / "missing", false, false, false, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(file_exists(row.path), row.exists) << row.path;
    EXPECT_EQ(is_directory(row.path), row.directory) << row.path;
    EXPECT_EQ(is_regular_file(row.path), row.regular) << row.path;
    EXPECT_EQ(is_executable_file(row.path), row.executable) << row.path;
  }
}

TEST_F(FilesTest, WritesANewFileWithTheModeAskedFor) {
  ASSERT_TRUE(write_file_atomically(folder_ / "f", "content", 0600));
  EXPECT_EQ(ScratchFolder::read(folder_ / "f"), "content");
  EXPECT_EQ(mode_of(folder_ / "f"), 0600U);
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"f"});
}

TEST_F(FilesTest, WritingKeepsTheModeOfAnExistingFile) {
  ScratchFolder::write(folder_ / "f", "something longer than the new content");
  ASSERT_EQ(::chmod((folder_ / "f").c_str(), 0751), 0);
  ASSERT_TRUE(write_file_atomically(folder_ / "f", "new", 0600));
  EXPECT_EQ(ScratchFolder::read(folder_ / "f"), "new");
  EXPECT_EQ(mode_of(folder_ / "f"), 0751U);
}

TEST_F(FilesTest, WritingReplacesASymlinkAndSparesItsTarget) {
  ScratchFolder::write(folder_ / "target", "precious");
  fs::create_symlink("target", folder_ / "f");
  ASSERT_TRUE(write_file_atomically(folder_ / "f", "new"));
  EXPECT_EQ(ScratchFolder::read(folder_ / "target"), "precious");
  EXPECT_FALSE(fs::is_symlink(folder_ / "f"));
  EXPECT_EQ(ScratchFolder::read(folder_ / "f"), "new");
}

TEST_F(FilesTest, AReaderThatHasItOpenKeepsTheOldContent) {
  ScratchFolder::write(folder_ / "f", "old");
  const Fd reader(::open((folder_ / "f").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(write_file_atomically(folder_ / "f", "new content"));
  char buffer[32];
  ASSERT_EQ(::read(reader.get(), buffer, sizeof buffer), 3);
  EXPECT_EQ(std::string(buffer, 3), "old");
}

// Simulates a disk that becomes full in the middle of a write.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(FilesTest, AWriteThatFailsHalfwayLeavesTheOldContentAndNothingElse) {
  ScratchFolder::write(folder_ / "f", "old");
  {
    const SmallDisk disk(1000);
    const Status written = write_file_atomically(folder_ / "f", std::string(5000, 'x'));
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind, ErrorKind::kIo);
    EXPECT_EQ(written.error().message, "cannot write " + folder_ / "f" + ": File too large");
  }
  EXPECT_EQ(ScratchFolder::read(folder_ / "f"), "old");
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"f"});
}

TEST_F(FilesTest, WritingOverAFolderFailsAndLeavesNothingBehind) {
  fs::create_directory(folder_ / "f");
  EXPECT_FALSE(write_file_atomically(folder_ / "f", "x"));
  EXPECT_EQ(names_in(folder_.path()), std::vector<std::string>{"f"});
  EXPECT_TRUE(is_directory(folder_ / "f"));
  const Status nowhere = write_file_atomically(folder_ / "no/such/f", "x");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kNotFound);
}

TEST_F(FilesTest, MakesFoldersWithTheirParentsAndAcceptsExistingOnes) {
  EXPECT_TRUE(make_directories(folder_ / "a/b/c"));
  EXPECT_TRUE(is_directory(folder_ / "a/b/c"));
  EXPECT_TRUE(make_directories(folder_ / "a/b/c"));
  EXPECT_TRUE(make_directories(folder_ / "a/d/"));
  EXPECT_TRUE(is_directory(folder_ / "a/d"));
  EXPECT_TRUE(make_directories(""));
}

TEST_F(FilesTest, MakesNoFolderWhereAFileExists) {
  ScratchFolder::write(folder_ / "f", "");
  for (const char* name : {"f", "f/a"}) {
    const Status made = make_directories(folder_ / name);
    ASSERT_FALSE(made) << name;
    EXPECT_NE(made.error().message.find("Not a directory"), std::string::npos) << made.error().message;
  }
}

TEST_F(FilesTest, AppendsAndNeverThroughASymlink) {
  for (const char* text : {"one\n", "two\n"}) {
    const auto fd = open_for_append(folder_ / "log", 0640);
    ASSERT_TRUE(fd);
    EXPECT_TRUE(write_all(fd->get(), text, "log"));
  }
  EXPECT_EQ(ScratchFolder::read(folder_ / "log"), "one\ntwo\n");
  EXPECT_EQ(mode_of(folder_ / "log"), 0640U);
  fs::create_symlink("log", folder_ / "link");
  EXPECT_FALSE(open_for_append(folder_ / "link"));
  fs::create_symlink("new", folder_ / "dangling");
  EXPECT_FALSE(open_for_append(folder_ / "dangling"));
  EXPECT_FALSE(file_exists(folder_ / "new"));
}

TEST_F(FilesTest, RefusesToAppendToAPipe) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(open_for_append(folder_ / "pipe")) << "nobody reads it";
  const Fd reader(::open((folder_ / "pipe").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  EXPECT_FALSE(open_for_append(folder_ / "pipe")) << "somebody does, but may stop";
}

TEST_F(FilesTest, ADescriptorIsClosedOnceByItsLastOwner) {
  Fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  Fd second(std::move(first));
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): it must be empty
  EXPECT_EQ(second.get(), number);
  second = Fd();
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  Fd third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Fd& itself = third;
  third = std::move(itself);
  EXPECT_NE(::fcntl(third.get(), F_GETFD), -1);
}

TEST(Paths, AreJoinedAndTakenApart) {
  EXPECT_EQ(join_path("/a", "b"), "/a/b");
  EXPECT_EQ(join_path("/a/", "b"), "/a/b");
  EXPECT_EQ(join_path("/a", "/b"), "/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(parent_path("/a/b"), "/a");
  EXPECT_EQ(parent_path("/a"), "/");
  EXPECT_EQ(parent_path("a"), ".");
  EXPECT_EQ(base_name("/a/b"), "b");
  EXPECT_EQ(base_name("b"), "b");
}

TEST(AbandonedWrites, OfKilledProcessesAreRemovedByTheNextWrite) {
  const ScratchFolder folder;
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const char* name : {".a.json.ralph-Ab3xYz", ".b.ralph-000000", ".fresh.ralph-abcdef", ".mine.ralph-abc",
                           "a.ralph-abcdef", ".ralph-active", ".x.ralph-abcdefg"}) {
    ScratchFolder::write(folder / name, "x");
    if (std::string_view(name) != ".fresh.ralph-abcdef") fs::last_write_time(folder / name, long_ago);
  }
  ASSERT_TRUE(write_file_atomically(folder / "other", "text"));
  std::vector<std::string> left = names_in(folder.path());
  std::erase_if(left, [](const std::string& name) { return name == "." || name == ".."; });
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{".fresh.ralph-abcdef", ".mine.ralph-abc", ".ralph-active",
                                            ".x.ralph-abcdefg", "a.ralph-abcdef", "other"}));
}

TEST(Paths, AreMadeAbsoluteWithoutDots) {
  struct Row {
    std::string_view path, base, absolute;
  };
  const Row rows[] = {
      {"b", "/a", "/a/b"},           {"/b", "/a", "/b"},   {"", "/a", "/a"},         {".", "/a", "/a"},
      {"./b//c/.", "/a/", "/a/b/c"}, {"..", "/a/b", "/a"}, {"../c", "/a/b", "/a/c"}, {"../../../..", "/a", "/"},
      {"b/../../c", "/a", "/c"},     {"/", "/a", "/"},     {"...", "/a", "/a/..."},  {"b c/ü", "/a", "/a/b c/ü"},
  };
  for (const Row& row : rows) EXPECT_EQ(absolute_path(row.path, row.base), row.absolute) << row.path;
}

TEST(Paths, SymlinksInThemAreLeftAlone) {
  const ScratchFolder folder;
  fs::create_directory_symlink("/usr", folder / "link");
  EXPECT_EQ(absolute_path("link/bin", folder.path()), folder / "link/bin");
}

TEST(Paths, AreRealWhenTheirLinksAreFollowed) {
  const ScratchFolder folder;
  fs::create_directories(folder / "there");
  fs::create_directory_symlink("there", folder / "link");
  fs::create_directory_symlink("nowhere", folder / "loose");
  const std::string real = fs::canonical(folder.path()).string();
  EXPECT_EQ(real_path(folder / "link"), real + "/there");
  EXPECT_EQ(real_path(folder / "link/not/yet"), real + "/there/not/yet");
  EXPECT_EQ(real_path(folder / "loose/x"), real + "/nowhere/x");
  EXPECT_EQ(real_path("/"), "/");
}

TEST(Paths, AreWithinAFolderByName) {
  EXPECT_TRUE(is_within("/p", "/p"));
  EXPECT_TRUE(is_within("/p/src/x", "/p"));
  EXPECT_TRUE(is_within("/p", "/"));
  EXPECT_FALSE(is_within("/project", "/p"));
  EXPECT_FALSE(is_within("/", "/p"));
  EXPECT_FALSE(is_within("/p", ""));
  EXPECT_EQ(path_below("/p/src/x", "/p"), "src/x");
  EXPECT_EQ(path_below("/p/src", "/"), "p/src");
  EXPECT_EQ(path_below("/p", "/p"), "");
  EXPECT_EQ(path_below("/project/x", "/p"), "");
}

}  // namespace
}  // namespace ralph
