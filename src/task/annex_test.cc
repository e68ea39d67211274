#include "task/annex.h"

#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"
#include "task/annex_folder.h"

namespace ralph {
namespace {

namespace fs = std::filesystem;

const AnnexPlace kPlace{"/root/p", "t", {"first"}, "/root/p/t/jobs.sock"};

TEST(Annex, AMachineWritesInItsTaskAndNotWhatTheSupervisorBelieves) {
  for (const char* path : {"t/", "t/DONE", "t/notes/a", "t/TASK.md", "t/runs-of-mine", "t/journal.jsonl.old"})
    EXPECT_TRUE(may_machine_write(path, kPlace)) << path;
  for (const char* path :
       {"t/journal.jsonl", "t/runs/", "t/runs/x/output.md", "t/supervisor.lock", "t/task.yaml", "t/receipt.json",
        "t/receipt.md", "t/jobs.sock", "t/TASK-MESSAGE-BUS.md", "t/guardrail_1_x.log", "t/machine.log",
        "t/egress.jsonl", "t", "", "other/DONE", "first/result", "PROJECT-MESSAGE-BUS.md", "tt/DONE"})
    EXPECT_FALSE(may_machine_write(path, kPlace)) << path;
}

TEST(Annex, AMachineSeesAttemptsAndTheTasksThatItDependsOn) {
  for (const char* path :
       {"t/DONE", "t/runs/", "t/runs/1/", "t/runs/1/output.md", "t/runs/1/prompt.md", "first/", "first/result"})
    EXPECT_TRUE(is_shared_with_machine(path, kPlace)) << path;
  for (const char* path :
       {"t/runs/1/journal.jsonl", "t/journal.jsonl", "first/journal.jsonl", "first/runs/", "other/", "other/DONE"})
    EXPECT_FALSE(is_shared_with_machine(path, kPlace)) << path;
}

// Both ends with a folder each; frames are passed from one to the other.
class TwoFolders : public ::testing::Test {
 protected:
  static bool all(std::string_view) { return true; }
  void pass(AnnexFolder& from, AnnexFolder& to) {
    for (const AnnexFrame& frame : from.changes()) EXPECT_TRUE(to.apply(frame)) << frame.path;
  }
  static std::map<std::string, std::string> files_in(const std::string& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files[fs::relative(entry.path(), folder)] = *read_file(entry.path());
    return files;
  }
  ScratchFolder base_;
  void SetUp() override {
    for (const char* name : {"one", "other"}) fs::create_directory(base_ / name);
  }
};

TEST_F(TwoFolders, BecomeTheSameAndSendNothingTwice) {
  AnnexFolder one(base_ / "one", all), other(base_ / "other", all);
  ScratchFolder::write(base_ / "one/a", "A");
  fs::create_directories(base_ / "one/deep/er");
  ScratchFolder::write(base_ / "one/deep/er/b", std::string(100'000, 'b'));
  pass(one, other);
  EXPECT_TRUE(other.changes().empty());  // it does not send back what it received
  ScratchFolder::write(base_ / "other/c", "C");
  fs::remove(base_ / "other/a");
  ::chmod((base_ / "other/c").c_str(), 0755);
  pass(other, one);
  EXPECT_TRUE(one.changes().empty());
  EXPECT_EQ(files_in(base_ / "one"), files_in(base_ / "other"));
  EXPECT_EQ(files_in(base_ / "one").size(), 2U);
  EXPECT_EQ(::access((base_ / "one/c").c_str(), X_OK), 0);
}

TEST_F(TwoFolders, CarryPlainFilesOnlyAndNotThroughLinks) {
  AnnexFolder one(base_ / "one", all), other(base_ / "other", all);
  ScratchFolder::write(base_ / "secret", "secret");
  fs::create_symlink(base_ / "secret", base_ / "one/link");
  fs::create_directory_symlink(base_.path(), base_ / "one/folder");
  ASSERT_EQ(::mkfifo((base_ / "one/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(one.changes().empty());
  fs::create_directory_symlink(base_.path(), base_ / "other/way");
  for (const char* path : {"../escaped", "/escaped", "a/../../escaped", "way/escaped", "", ".", "a//b"})
    EXPECT_FALSE(other.apply({AnnexWord::kPut, path, 0, "x"})) << path;
  EXPECT_FALSE(other.apply({AnnexWord::kGone, "way/secret"}));
  EXPECT_TRUE(fs::exists(base_ / "secret"));
  fs::create_symlink(base_ / "secret", base_ / "other/file");
  EXPECT_TRUE(other.apply({AnnexWord::kPut, "file", 0, "replaced"}));
  EXPECT_FALSE(other.apply({AnnexWord::kGrown, "way/secret", 0, "x"}));
  EXPECT_EQ(read_file(base_ / "secret"), "secret");
}

TEST(AnnexChannel, FramesArriveWholeHoweverTheyAreCut) {
  int to[2], from[2];
  ASSERT_EQ(::pipe2(to, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(from, O_CLOEXEC), 0);
  AnnexChannel one{Fd(from[0]), Fd(to[1])}, other{Fd(to[0]), Fd(from[1])};
  const std::string large(3 << 20, 'x');
  one.send({AnnexWord::kPut, "a\nb\"c", 1, "bytes\n{\"word\":\"gone\"}\n"});
  one.send({AnnexWord::kPut, "large", 0, large});
  one.send({AnnexWord::kLevel, "", 7});
  std::vector<AnnexFrame> arrived;
  for (int rounds = 0; rounds < 10'000 && arrived.size() < 3; ++rounds) {
    EXPECT_TRUE(one.go_on());
    EXPECT_TRUE(other.go_on());
    while (auto frame = other.take()) arrived.push_back(*std::move(frame));
  }
  ASSERT_EQ(arrived.size(), 3U);
  EXPECT_EQ(arrived[0].path, "a\nb\"c");
  EXPECT_EQ(arrived[0].bytes, "bytes\n{\"word\":\"gone\"}\n");
  EXPECT_EQ(arrived[1].bytes, large);
  EXPECT_EQ(arrived[2].number, 7);
}

TEST(AnnexChannel, NonsenseIsTheEnd) {
  for (const std::string& text :
       {std::string("nonsense\n"), std::string(R"({"word":"put","bytes":-1})") + "\n",
        std::string(R"({"word":"put","bytes":99999999999})") + "\n", std::string(70'000, 'x')}) {
    int to[2], from[2];
    ASSERT_EQ(::pipe2(to, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(from, O_CLOEXEC), 0);
    const Fd writer(to[1]), reader(from[0]);
    AnnexChannel channel{Fd(to[0]), Fd(from[1])};
    ASSERT_TRUE(write_all(writer.get(), text.substr(0, 65'536), "pipe"));
    channel.go_on();
    EXPECT_FALSE(channel.take());
    EXPECT_FALSE(channel.go_on()) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace ralph
