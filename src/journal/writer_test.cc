#include "journal/writer.h"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/text.h"
#include "journal/raw_file.h"
#include "journal/reader.h"
#include "journal/words_for_tests.h"
#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

constexpr std::string_view kSecret = "correct-horse-battery";

class JournalWriterTest : public ::testing::Test {
 protected:
  JournalWriter open() {
    auto writer = JournalWriter::open(folder_.path(), redactor_, [this] { return now_ += Milliseconds(5); });
    EXPECT_TRUE(writer) << writer.error().message;
    return *std::move(writer);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines = split(ScratchFolder::read(file_), '\n');
    EXPECT_EQ(lines.back(), "") << "the last record has its line end";
    lines.pop_back();
    return lines;
  }

  ScratchFolder folder_;
  std::string file_ = folder_ / kJournalFile;
  Redactor redactor_{std::vector<std::string>{"MY_TOKEN=" + std::string(kSecret)}};
  WallTime now_{Milliseconds(1'794'774'153'000)};
};

// During its lifetime, files cannot grow beyond `bytes`: simulates a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(JournalWriterTest, NumbersAndDatesItsRecordsAndReturnsThemAsWritten) {
  JournalWriter writer = open();
  const auto first = writer.append(record::IterationStarted{1});
  const auto second = writer.append(record::IterationEnded{1, 20});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->sequence, 1);
  EXPECT_EQ(second->sequence, 2);
  EXPECT_EQ(lines(), (std::vector<std::string>{record::to_line(*first), record::to_line(*second)}));
  EXPECT_NE(lines()[0].find(R"("time":"2026-11-15T20:22:33.005Z")"), std::string::npos);
  EXPECT_TRUE(writer.sync());
  EXPECT_TRUE(writer.sync());
}

TEST_F(JournalWriterTest, MakesAFileForItsOwnerAlone) {
  JournalWriter writer = open();
  struct stat info{};
  ASSERT_EQ(::stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(JournalWriterTest, NeverWritesASecret) {
  JournalWriter writer = open();
  const std::string secret(kSecret);
  record::RunStarted started;
  started.prompt = "use " + secret + " to log in";
  started.settings =
      json::value{{"agent", {{"env", {{"MY_TOKEN", secret}, {"API_KEY", "tiny"}}}, {"flags", {"--key=" + secret}}}}};
  record::AgentStarted agent;
  agent.argv = {"agent", "--token", secret};
  record::AgentEnded ended;
  ended.response = "it is \"" + secret + "\"";
  record::Unknown unknown{"later", {{"text", secret}, {"password", "tiny"}}};
  for (record::Body body : {record::Body(started), record::Body(agent), record::Body(ended), record::Body(unknown)}) {
    const auto record = writer.append(std::move(body));
    ASSERT_TRUE(record);
    EXPECT_EQ(record::to_line(*record).find(secret), std::string::npos);
  }
  const std::string text = ScratchFolder::read(file_);
  EXPECT_EQ(text.find(secret), std::string::npos) << text;
  EXPECT_EQ(text.find("tiny"), std::string::npos) << text;
  EXPECT_NE(text.find("use ********************* to log in"), std::string::npos) << "the length is kept";
  for (const std::string& line : lines()) EXPECT_TRUE(record::from_line(line)) << line;
}

TEST_F(JournalWriterTest, LeavesTheWordsOfTheFormatAlone) {
  const Redactor odd(
      std::vector<std::string>{"A_TOKEN=20261115-202233-7f3a", "B_TOKEN=complete", "C_TOKEN=prompt.txt"});
  auto writer = JournalWriter::open(folder_.path(), odd, [] { return WallTime{}; });
  ASSERT_TRUE(writer);
  record::RunStarted started;
  started.run_id = "20261115-202233-7f3a";
  started.prompt = "20261115-202233-7f3a";
  record::RunEnded ended;
  ended.status = StopStatus::kComplete;
  ended.reason = "complete";
  record::AgentStarted agent;
  agent.prompt_file = "prompt.txt";
  ASSERT_TRUE(writer->append(started) && writer->append(ended) && writer->append(agent));
  const std::string text = ScratchFolder::read(file_);
  EXPECT_NE(text.find(R"("runId":"20261115-202233-7f3a")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("prompt":"********************")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("status":"complete","reason":"********")"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("promptFile":"prompt.txt")"), std::string::npos) << text;
}

TEST_F(JournalWriterTest, LeavesNoTornRecordWhenTheDiskIsFull) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.append(record::IterationStarted{1}));
  const std::string before = ScratchFolder::read(file_);
  record::Decided large;
  large.reason = std::string(5000, 'x');
  for (rlim_t room : {0, 1, 100}) {
    const FileSizeLimit limit(before.size() + room);
    const auto failed = writer.append(large);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, ErrorKind::kIo);
    EXPECT_NE(failed.error().message.find(file_), std::string::npos) << failed.error().message;
    EXPECT_TRUE(room == 0 || failed.error().message.find("ulimit -f") != std::string::npos) << failed.error().message;
    EXPECT_EQ(ScratchFolder::read(file_), before);
  }
  const auto next = writer.append(large);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->sequence, 2) << "a record that was not written has no number";
}

TEST_F(JournalWriterTest, ContinuesAJournalWithoutItsTornTail) {
  {
    JournalWriter writer = open();
    ASSERT_TRUE(writer.append(record::IterationStarted{1}) && writer.append(record::IterationStarted{2}));
  }
  const std::string whole = ScratchFolder::read(file_);
  ScratchFolder::write(file_, whole + R"({"v":1,"seq":3,"ti)");
  JournalWriter writer = open();
  EXPECT_EQ(ScratchFolder::read(file_), whole);
  const auto next = writer.append(record::IterationStarted{3});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->sequence, 3);
  EXPECT_EQ(lines().size(), 3u);
}

TEST_F(JournalWriterTest, EveryRecordNamesTheHashOfTheLineBefore) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.append(record::IterationStarted{1}) && writer.append(record::IterationStarted{2}));
  const std::vector<std::string> written = lines();
  EXPECT_EQ(record::from_line(written[0])->prev, "");
  EXPECT_EQ(record::from_line(written[1])->prev, sha256_hex(written[0]));
  EXPECT_EQ(writer.last_hash(), sha256_hex(written[1]));
}

TEST_F(JournalWriterTest, HasOneWriterAtATime) {
  std::optional<JournalWriter> first = open();
  const auto second = JournalWriter::open(folder_.path(), redactor_, [] { return WallTime{}; }, {}, Milliseconds(20));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kBusy);
  first.reset();
  EXPECT_TRUE(JournalWriter::open(folder_.path(), redactor_, [] { return WallTime{}; }));
}

TEST_F(JournalWriterTest, AJournalThatVanishedIsWrittenAgain) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.append(record::IterationStarted{1}));
  std::filesystem::remove(file_);
  ASSERT_TRUE(writer.append(record::IterationStarted{2}));
  EXPECT_EQ(lines().size(), 2u);
  ScratchFolder::write(folder_ / "other", "not the journal\n");
  std::filesystem::rename(folder_ / "other", file_);
  ASSERT_TRUE(writer.append(record::IterationStarted{3}) && writer.sync());
  EXPECT_EQ(lines().size(), 3u);
  auto reader = JournalReader::open(file_);
  while (reader->next().value()) {
  }
  EXPECT_TRUE(reader->is_whole());
}

TEST_F(JournalWriterTest, AJournalThatSomebodyElseWroteToIsNotAddedTo) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.append(record::IterationStarted{1}));
  ASSERT_TRUE(writer.append(record::IterationStarted{2}));
  EXPECT_EQ(writer.fault(), "");
  const std::string text = ScratchFolder::read(file_);
  for (const auto& [now, word] :
       {std::pair{text + "{}\n", "added to"}, {text.substr(0, 9), "shortened"}, {"", "shortened"}}) {
    std::filesystem::resize_file(file_, 0);
    std::ofstream(file_, std::ios::app) << now;
    const auto written = writer.append(record::IterationStarted{3});
    ASSERT_FALSE(written) << now;
    EXPECT_TRUE(contains(written.error().message, fmt::format("somebody {} the journal", word)))
        << written.error().message;
    EXPECT_EQ(ScratchFolder::read(file_), now) << "it is left for others to look at";
    EXPECT_NE(writer.fault(), "");
  }
}

TEST_F(JournalWriterTest, ARecordThatWasChangedInItsPlaceIsAFault) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.append(record::IterationStarted{1}));
  ASSERT_TRUE(writer.append(record::IterationStarted{2}));
  const std::string text = ScratchFolder::read(file_);
  const auto write = [&](const std::string& now) {
    std::filesystem::resize_file(file_, 0);
    std::ofstream(file_, std::ios::app) << now;
  };
  write(replace_all(text, "\"iteration\":1", "\"iteration\":7"));
  EXPECT_TRUE(contains(writer.fault(), "does not follow from the line before it")) << writer.fault();
  write(replace_all(text, "\"iteration\":2", "\"iteration\":7"));
  EXPECT_EQ(writer.fault(), "its last record is a different one");
  write(text);
  EXPECT_EQ(writer.fault(), "");
  // Content that was checked once is remembered by its hash, including later records.
  ASSERT_TRUE(writer.append(record::IterationStarted{3}));
  EXPECT_EQ(writer.fault(), "");
  const std::string more = ScratchFolder::read(file_);
  write(replace_all(more, "\"iteration\":1", "\"iteration\":7"));
  EXPECT_NE(writer.fault(), "");
  write(more);
  EXPECT_EQ(writer.fault(), "");
}

TEST_F(JournalWriterTest, ARecordThatWasChangedBeforeAnotherWasWrittenIsAFault) {
  JournalWriter writer = open();
  ASSERT_TRUE(writer.append(record::IterationStarted{1}));
  ASSERT_EQ(writer.fault(), "");
  ::usleep(20'000);  // more than a tick of the clock that file times come from
  const std::string text = ScratchFolder::read(file_);
  std::fstream(file_, std::ios::in | std::ios::out) << replace_all(text, "\"iteration\":1", "\"iteration\":7");
  ASSERT_TRUE(writer.append(record::IterationStarted{2})) << "its size is what it was";
  ASSERT_TRUE(writer.append(record::IterationStarted{3}));
  EXPECT_TRUE(contains(writer.fault(), "does not follow from the line before it")) << writer.fault();
}

TEST_F(JournalWriterTest, RefusesWhatIsNoPlainFile) {
  ScratchFolder::write(folder_ / "elsewhere", "");
  ASSERT_EQ(::symlink((folder_ / "elsewhere").c_str(), file_.c_str()), 0);
  EXPECT_FALSE(JournalWriter::open(folder_.path(), redactor_, [] { return WallTime{}; }));
  ::unlink(file_.c_str());
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_FALSE(JournalWriter::open(folder_.path(), redactor_, [] { return WallTime{}; }));
  EXPECT_FALSE(JournalWriter::open(folder_ / "missing", redactor_, [] { return WallTime{}; }));
}

TEST_F(JournalWriterTest, RawFilesGetFurtherNames) {
  const std::string path = folder_ / "agent_1.out", other = folder_ / "other";
  auto file = RawFile::create(path);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append("text"));
  EXPECT_TRUE(file->holds("text"));
  EXPECT_FALSE(file->holds("tex"));
  EXPECT_FALSE(file->holds("texts"));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(file->link_at(other)) << "replaces itself, too";
    EXPECT_EQ(read_file(other).value_or(""), "text");
    EXPECT_FALSE(path_exists(other + ".new"));
  }
  // A file without a name can get none: as on a file system without hard links.
  ::unlink(other.c_str()), ::unlink(path.c_str());
  EXPECT_FALSE(file->link_at(other));
  EXPECT_FALSE(path_exists(other)) << "nothing reads through a symlink";
  ASSERT_TRUE(file->link_at(other, RawFile::Link::kAny));
  char target[64] = {};
  EXPECT_GT(::readlink(other.c_str(), target, sizeof target - 1), 0);
  EXPECT_STREQ(target, "agent_1.out");
}

TEST_F(JournalWriterTest, RawFilesHoldJustTheBytes) {
  const std::string path = folder_ / "out.log";
  {
    auto file = RawFile::create(path);
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->append("one\n") && file->append("") && file->append(std::string_view("\0two", 4)));
  }
  auto file = RawFile::append_to(path);
  ASSERT_TRUE(file && file->append("three"));
  EXPECT_EQ(ScratchFolder::read(path), std::string("one\n\0twothree", 13));
  ASSERT_TRUE(RawFile::create(path)) << "a new file in its place";
  EXPECT_EQ(ScratchFolder::read(path), "");
}

// An agent may remove ralph's folder at any time, also between two steps of creating a file in it.
TEST_F(JournalWriterTest, RawFilesAreCreatedWhileTheirFolderIsRemoved) {
  const std::string top = folder_ / ".ralph";
  std::atomic<bool> over = false;
  std::thread agent([&] {
    std::error_code ignored;
    while (!over) std::filesystem::remove_all(top, ignored);
  });
  for (int i = 0; i < 300; ++i) {
    const auto file = RawFile::create(top + "/runs/one/agent.out");
    EXPECT_TRUE(file) << file.error().message;
    if (!file) break;
  }
  over = true;
  agent.join();
}

TEST_F(JournalWriterTest, RawFilesAreNeverWrittenThroughLinks) {
  const std::string victim = folder_ / "victim", path = folder_ / "out.log";
  ScratchFolder::write(victim, "precious");
  ASSERT_EQ(::symlink(victim.c_str(), path.c_str()), 0);
  EXPECT_FALSE(RawFile::append_to(path));
  auto file = RawFile::create(path);
  ASSERT_TRUE(file && file->append("x"));
  ::unlink(path.c_str());
  ASSERT_EQ(::link(victim.c_str(), path.c_str()), 0);
  file = RawFile::create(path);
  ASSERT_TRUE(file && file->append("x"));
  EXPECT_EQ(ScratchFolder::read(victim), "precious");
  ::unlink(path.c_str());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(RawFile::append_to(path)) << "and does not wait for a reader";
}

TEST_F(JournalWriterTest, RawFilesSayWhichFileCouldNotBeWritten) {
  const auto missing = RawFile::create(folder_ / "missing/out.log");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kIo);
  EXPECT_NE(missing.error().message.find("missing/out.log"), std::string::npos);
  auto file = RawFile::create(folder_ / "out.log");
  ASSERT_TRUE(file);
  const FileSizeLimit limit(10);
  const Status full = file->append(std::string(100, 'x'));
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("out.log"), std::string::npos) << full.error().message;
}

}  // namespace
}  // namespace ralph
