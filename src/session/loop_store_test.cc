#include "session/loop_store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "git/fingerprint.h"
#include "journal/reader.h"
#include "journal/words_for_tests.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"
#include "session/loop_v1.h"
#include "session/session_note.h"

namespace ralph {
namespace {

class LoopStoreTest : public testing::Test {
 protected:
  LoopStoreTest() {
    std::filesystem::create_directories(project_);
    environment_.set("HOME", folder_ / "home");
    environment_.set("PATH", "/usr/bin:/bin");
  }

  LoopStore store() const { return {project_, environment_}; }
  static LoopRequest request(std::string task = "x") {
    LoopRequest wanted;
    wanted.task = std::move(task);
    return wanted;
  }
  // A file of the session's run.
  std::string file(const std::string& session, std::string_view name) const {
    return fmt::format("{}/.ralph/runs/{}/{}", project_, (*store().load(session))->run, name);
  }
  std::string journal(const std::string& session = "s1") const { return file(session, "journal.jsonl"); }
  // One refused stop.
  bool go_on(const std::string& session = "s1", std::vector<std::string> calls = {}) const {
    auto loop = store().open(session);
    if (!loop || !*loop) return false;
    Observation now;
    now.moment = Moment::kAtStop;
    now.session = {"/t", 7, 1, std::move(calls), false, "", "", 0, {}};
    return (*loop)->run.ask(now).has_value();
  }

  // Binds the waiting loop to s1, but only up to the point where an adoption is killed halfway.
  void cut_off_adoption() const {
    const std::string sessions = folder_ / "home/.local/state/ralph/sessions/";
    for (const auto& entry : std::filesystem::directory_iterator(sessions)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("unbound.") && !name.ends_with(".lock"))
        std::filesystem::rename(entry.path(), sessions + "s1");
    }
  }

  ScratchFolder folder_;
  std::string project_ = folder_ / "p";
  Environment environment_;
};

TEST_F(LoopStoreTest, ALoopIsStartedFoundChangedAndEnded) {
  const std::string transcript = folder_ / "t.jsonl";
  ScratchFolder::write(transcript, "12345");
  const auto started = store().start(request("do it"), "s1", transcript);
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_EQ(started->host.transcript_start, 5U);
  EXPECT_EQ(started->host.transcript_read, 5U);
  EXPECT_EQ(project_of_session(environment_, "s1"), project_);

  ASSERT_TRUE(go_on());
  EXPECT_EQ((*store().load("s1"))->iteration, 1);

  ASSERT_TRUE((*store().cancel("s1")).has_value());
  EXPECT_FALSE((*store().load("s1")).has_value());
  EXPECT_FALSE((*store().cancel("s1")).has_value()) << "only once";
  EXPECT_TRUE(store().active().empty());
  ASSERT_EQ(store().history().size(), 1U);
  EXPECT_EQ(store().history()[0].request.task, "do it");
  EXPECT_EQ(store().history()[0].status, LoopStatus::kCancelled);
  EXPECT_EQ(project_of_session(environment_, "s1"), std::nullopt);
}

TEST_F(LoopStoreTest, ASecondLoopInASessionIsRefusedUntilTheFirstHasEnded) {
  ASSERT_TRUE(store().start(request("first"), "s1", ""));
  const auto second = store().start(request("second"), "s1", "");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::kBusy);
  EXPECT_NE(second.error().message.find("ralph loop cancel --session s1"), std::string::npos);
  EXPECT_EQ((*store().load("s1"))->request.task, "first");
  ASSERT_TRUE(store().start(request("other"), "s2", ""));
  ASSERT_TRUE(store().cancel("s1"));
  ASSERT_TRUE(store().start(request("second"), "s1", ""));
  EXPECT_EQ(store().active().size(), 2U);
}

TEST_F(LoopStoreTest, SessionsDoNotTouchEachOther) {
  ASSERT_TRUE(store().start(request("a"), "s1", ""));
  ASSERT_TRUE(store().start(request("b"), "s2", ""));
  ASSERT_TRUE(go_on("s1"));
  EXPECT_EQ((*store().load("s2"))->iteration, 0);
  EXPECT_EQ(project_of_session(environment_, ""), std::nullopt);
  EXPECT_EQ(project_of_session(environment_, "s3"), std::nullopt);
}

TEST_F(LoopStoreTest, AnySessionIdIsAHarmlessFileName) {
  for (const std::string& session :
       {std::string("../../evil"), std::string("a/b"), std::string("unbound"), std::string("."), std::string("ü ä"),
        std::string(5000, 'x'), std::string("hash-0123456789abcdef"), std::string("a\nb")}) {
    ASSERT_TRUE(store().start(request(), session, "")) << session;
    EXPECT_EQ(project_of_session(environment_, session), project_) << session;
    EXPECT_EQ((*store().load(session))->host.session, session);
  }
  EXPECT_EQ(store().active().size(), 8U);
  EXPECT_FALSE((*store().load("")).has_value()) << "a session of that name is not the unbound loop";
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_TRUE(entry.path().filename() == "p" || entry.path().filename() == "home") << entry.path();
}

TEST_F(LoopStoreTest, ASessionIsFoundWhereverItIs) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  EXPECT_EQ(project_of_session(environment_, "s1"), project_);
  Environment homeless = environment_;
  homeless.set("HOME", "");
  EXPECT_EQ(project_of_session(homeless, "s1"), std::nullopt);
  EXPECT_FALSE(LoopStore(project_, homeless).start(request(), "s2", "").has_value());
  std::filesystem::remove_all(project_ + "/.ralph");
  EXPECT_EQ(project_of_session(environment_, "s1"), std::nullopt) << "a note that is out of date";
}

TEST_F(LoopStoreTest, WhatCameWithARepositoryIsNoLoop) {
  ASSERT_TRUE(store().start(request("evil"), "", ""));
  ASSERT_TRUE(store().start(request("evil"), "s1", ""));
  Environment elsewhere = environment_;  // the same project on another machine
  elsewhere.set("HOME", folder_ / "other-home");
  LoopStore there(project_, elsewhere);
  EXPECT_FALSE((*there.adopt("s2", "")).has_value());
  EXPECT_FALSE((*there.load("s1")).has_value());
  EXPECT_TRUE(there.active().empty());
  EXPECT_EQ(project_of_session(elsewhere, "s1"), std::nullopt);
}

TEST_F(LoopStoreTest, TheProjectIsTheNearestFolderWithRalphOrGit) {
  std::filesystem::create_directories(project_ + "/a/b");
  EXPECT_EQ(project_for_loop(project_ + "/a/b"), project_ + "/a/b");
  std::filesystem::create_directories(project_ + "/.git");
  EXPECT_EQ(project_for_loop(project_ + "/a/b"), project_);
  ScratchFolder::write(project_ + "/a/.git", "gitdir: elsewhere\n");
  EXPECT_EQ(project_for_loop(project_ + "/a/b"), project_ + "/a") << "a worktree";
}

TEST_F(LoopStoreTest, AnUnboundLoopIsAdoptedOnce) {
  ASSERT_TRUE(store().start(request("wait"), "", ""));
  EXPECT_FALSE((*store().adopt("", "/t")).has_value());
  const auto adopted = store().adopt("s1", folder_ / "t.jsonl");
  ASSERT_TRUE(adopted.has_value() && adopted->has_value());
  EXPECT_EQ((*adopted)->request.task, "wait");
  EXPECT_EQ((*store().load("s1"))->host.session, "s1");
  EXPECT_EQ((*store().load("s1"))->host.transcript, folder_ / "t.jsonl");
  EXPECT_FALSE((*store().adopt("s2", "")).has_value());
  EXPECT_EQ(store().active().size(), 1U);
  EXPECT_EQ(project_of_session(environment_, "s1"), project_);
}

TEST_F(LoopStoreTest, ASessionWithALoopAdoptsNoSecond) {
  ASSERT_TRUE(store().start(request("own"), "s1", ""));
  ASSERT_TRUE(store().start(request("wait"), "", ""));
  EXPECT_FALSE((*store().adopt("s1", "")).has_value());
  EXPECT_EQ((*store().load("s1"))->request.task, "own");
  EXPECT_TRUE((*store().adopt("s2", "")).has_value());
}

TEST_F(LoopStoreTest, AnAdoptionThatWasCutOffIsWhole) {
  ASSERT_TRUE(store().start(request("wait"), "", ""));
  cut_off_adoption();
  EXPECT_EQ((*store().load("s1"))->host.session, "s1");
  ASSERT_TRUE(go_on());
  ASSERT_TRUE((*store().cancel("s1")).has_value());
  EXPECT_EQ(store().history().size(), 1U);
  EXPECT_EQ(project_of_session(environment_, "s1"), std::nullopt);
}

TEST_F(LoopStoreTest, TheEndOfACutOffAdoptionLeavesAnotherWaitingLoopAlone) {
  for (const bool cancels : {true, false}) {
    LoopRequest first = request("first");
    first.max_iterations = 1;
    ASSERT_TRUE(store().start(first, "", ""));
    cut_off_adoption();
    ASSERT_TRUE(store().start(request("second"), "", ""));
    if (cancels) {
      ASSERT_TRUE((*store().cancel("s1")).has_value());
    } else {
      auto loop = store().open("s1");
      ASSERT_TRUE(loop && *loop);
      ASSERT_TRUE(store().close(**loop, StopStatus::kLimit, "enough"));
    }
    const auto adopted = store().adopt("s2", "");
    ASSERT_TRUE(adopted && *adopted) << "it still waits";
    EXPECT_EQ((*adopted)->request.task, "second");
    ASSERT_TRUE((*store().cancel("s2")).has_value());
  }
}

TEST_F(LoopStoreTest, AnEndThatWasCutOffIsAnEnd) {
  LoopRequest one = request("first");
  one.max_iterations = 1;
  ASSERT_TRUE(store().start(one, "s1", ""));
  ASSERT_TRUE(go_on());
  ASSERT_TRUE(go_on()) << "the limit was decided, and then ralph was killed";
  EXPECT_FALSE((*store().cancel("s1")).has_value());
  EXPECT_TRUE(store().active().empty());
  ASSERT_TRUE(store().start(request("second"), "s1", ""));
  EXPECT_EQ(store().history().at(0).status, LoopStatus::kMaxIterationsReached);
  EXPECT_EQ(store().history().at(0).request.task, "first");
  EXPECT_EQ((*store().load("s1"))->request.task, "second");
  EXPECT_TRUE((*store().load("s1"))->active());
}

TEST_F(LoopStoreTest, ARecordThatWasCutOffIsIgnored) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  ASSERT_TRUE(go_on());
  const std::string whole = ScratchFolder::read(journal());
  for (size_t length = 1; length < whole.find('\n'); length += 5) {
    ScratchFolder::write(journal(), whole + whole.substr(0, length));
    EXPECT_EQ((*store().load("s1"))->iteration, 1) << length;
  }
  ScratchFolder::write(journal(), whole + "{\"v\":2,\"seq\":9,\"ti");
  ASSERT_TRUE(go_on());
  EXPECT_EQ((*store().load("s1"))->iteration, 2);
}

TEST_F(LoopStoreTest, ARecordOfAnyLengthIsFound) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  ASSERT_TRUE(go_on("s1", std::vector<std::string>(32, std::string(2000, 'i'))));
  EXPECT_EQ((*store().load("s1"))->iteration, 1);
  ASSERT_TRUE(go_on());
  EXPECT_EQ((*store().load("s1"))->iteration, 2);
}

// A stop reads only the last decision, whose progress must equal the fold over all records.
TEST_F(LoopStoreTest, TheProgressInADecisionIsTheFoldOverAllRecords) {
  ScratchFolder::write(folder_ / "t", "123");
  ASSERT_TRUE(store().start(request("fix it"), "", ""));
  ASSERT_TRUE((*store().adopt("s1", folder_ / "t")).has_value());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(go_on("s1", {std::to_string(i)}));
    auto reader = *JournalReader::open(journal());
    Progress folded, carried;
    for (;;) {
      const auto record = reader.next();
      ASSERT_TRUE(record);
      if (!*record) break;
      folded = fold(std::move(folded), **record);
      if (const auto* decided = std::get_if<record::Decided>(&(*record)->body); decided && decided->progress)
        carried = from_json<Progress>(*decided->progress);
    }
    EXPECT_EQ(carried, folded) << json::serialize(brief_json(carried)) << json::serialize(brief_json(folded));
    EXPECT_EQ(folded.iteration, i + 1);
    EXPECT_TRUE(reader.is_whole());
  }
}

TEST_F(LoopStoreTest, ToolCallsAreCountedForLoopsOnly) {
  store().count_tool_call("s1");
  EXPECT_EQ(store().counted_tool_calls("s1"), 0);
  ASSERT_TRUE(store().start(request(), "s1", ""));
  for (int i = 0; i < 5; ++i) store().count_tool_call("s1");
  store().count_tool_call("");
  store().count_tool_call("s2");
  EXPECT_EQ(store().counted_tool_calls("s1"), 5);
  ASSERT_TRUE(store().cancel("s1"));
  ASSERT_TRUE(store().start(request(), "s1", ""));
  EXPECT_EQ(store().counted_tool_calls("s1"), 0) << "of the loop before";
}

TEST_F(LoopStoreTest, WhatTwoHooksReportCountsOnce) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  for (const char* id : {"toolu_1", "toolu_1", "toolu_2", "toolu_1", ""}) store().count_tool_call("s1", id);
  EXPECT_EQ(store().counted_tool_calls("s1"), 3);
  for (int i = 0; i < 100; ++i) store().count_tool_call("s1", fmt::format("call {}", i));
  store().count_tool_call("s1", "call 60");
  EXPECT_EQ(store().counted_tool_calls("s1"), 103);
  for (const char* id : {"p1", "p1", "p2"}) store().count_prompt("s1", id);
  EXPECT_EQ(store().counted_prompts("s1"), 2);
}

TEST_F(LoopStoreTest, HooksThatReportTheSameCallsAtOnceCountThemOnce) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int k = 0; k < 50; ++k) store().count_tool_call("s1", fmt::format("call {}", k));
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(store().counted_tool_calls("s1"), 50);
}

TEST_F(LoopStoreTest, ManyWritersAtOnceLoseNothing) {
  LoopRequest many = request();
  many.max_iterations = 1000;
  ASSERT_TRUE(store().start(many, "s1", ""));
  constexpr int kWriters = 8;
  constexpr int kTimes = 10;
  std::vector<pid_t> children;
  for (int i = 0; i < kWriters; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int k = 0; k < kTimes; ++k) {
        good = good && go_on();
        store().count_tool_call("s1");
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ((*store().load("s1"))->iteration, kWriters * kTimes);
  EXPECT_EQ(store().counted_tool_calls("s1"), kWriters * kTimes);
}

TEST_F(LoopStoreTest, EveryDecisionIsKept) {
  LoopRequest many = request();
  many.max_iterations = 301;
  ASSERT_TRUE(store().start(many, "s1", ""));
  for (int i = 1; i <= 300; ++i) ASSERT_TRUE(go_on());
  ASSERT_EQ(store().active().at(0).decisions.size(), 300U);
  std::ofstream(journal(), std::ios::app) << "{\"time\":\"cut of";
  ASSERT_TRUE((*store().cancel("s1")).has_value());
  const LoopState ended = store().history().at(0);
  ASSERT_EQ(ended.decisions.size(), 301U);
  EXPECT_EQ(ended.decisions.front().iteration, 1);
  EXPECT_EQ(ended.decisions.front().rule, "promise_missing");
  EXPECT_EQ(ended.decisions.back().rule, "cancelled");
}

TEST_F(LoopStoreTest, TheTaskIsUnmaskedForItsOwnerAloneAndOnlyUntilItsEnd) {
  environment_.set("MY_TOKEN", "correct-horse-battery");
  ASSERT_TRUE(store().start(request("use correct-horse-battery"), "s1", ""));
  const std::string unmasked = file("s1", "request.json"), records = journal();
  EXPECT_EQ((*store().load("s1"))->request.task, "use correct-horse-battery");
  struct stat info{};
  ASSERT_EQ(::stat(unmasked.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(ScratchFolder::read(records).find("correct-horse"), std::string::npos);
  ASSERT_TRUE((*store().cancel("s1")).has_value());
  EXPECT_FALSE(std::filesystem::exists(unmasked));
  EXPECT_EQ(store().history().at(0).request.task, "use *********************");
}

TEST_F(LoopStoreTest, ADamagedFileIsAnErrorAndStaysForAPersonToSee) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  const std::string path = file("s1", "request.json");
  ScratchFolder::write(path, "{\"v\":1,");
  EXPECT_FALSE(store().cancel("s1").has_value());
  EXPECT_FALSE(store().start(request(), "s1", "").has_value());
  EXPECT_EQ(ScratchFolder::read(path), "{\"v\":1,");
  std::vector<std::string> damaged;
  EXPECT_TRUE(store().active("", &damaged).empty());
  EXPECT_EQ(damaged.size(), 1U);
}

TEST_F(LoopStoreTest, NothingGoesThroughALink) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  std::filesystem::rename(project_ + "/.ralph/runs", folder_ / "runs");
  std::filesystem::create_directory_symlink(folder_ / "runs", project_ + "/.ralph/runs");
  EXPECT_EQ(project_of_session(environment_, "s1"), std::nullopt);
  EXPECT_FALSE((*store().cancel("s1")).has_value());
  EXPECT_FALSE((*store().load("s1")).has_value());
  EXPECT_FALSE((*store().adopt("s1", "")).has_value());
  EXPECT_FALSE(store().start(request(), "s2", "").has_value());
}

// Version 0.1 kept a loop in .ralph/loop, and its note named only the project.
TEST_F(LoopStoreTest, ALoopThatIsActiveDuringAnUpgradeGoesOn) {
  std::filesystem::create_directories(project_ + "/.ralph/loop");
  std::filesystem::create_directories(folder_ / "home/.local/state/ralph/sessions");
  LoopState old;
  old.request = request("upgrade me");
  old.host.session = "s1";
  old.iteration = 4;
  old.host.transcript = folder_ / "t";
  old.host.transcript_read = 99;
  json::object text = to_json(old);
  text["v"] = 1;
  const std::string path = project_ + "/.ralph/loop/s1.json";
  ScratchFolder::write(path, json::serialize(text));
  EXPECT_EQ(project_of_session(environment_, "s1"), std::nullopt) << "no note: it came with the repository";
  ScratchFolder::write(folder_ / "home/.local/state/ralph/sessions/s1", project_ + "\n");
  EXPECT_EQ(project_of_session(environment_, "s1"), project_);
  const auto now = store().load("s1");
  ASSERT_TRUE(now && *now);
  EXPECT_EQ((*now)->request.task, "upgrade me");
  EXPECT_EQ((*now)->iteration, 4);
  EXPECT_EQ((*now)->host.transcript_read, 99U);
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(go_on());
  EXPECT_EQ((*store().load("s1"))->iteration, 5);
}

class TreeTest : public LoopStoreTest {
 protected:
  void git(const std::string& words) const {
    ASSERT_EQ(
        std::system(
            fmt::format("cd '{}' && git -c user.name=t -c user.email=t@e {} >/dev/null 2>&1", project_, words).c_str()),
        0)
        << words;
  }
  std::string tree() const { return tree_fingerprint(project_, environment_); }
};

TEST_F(TreeTest, ChangesOfTheTreeAreSeen) {
  EXPECT_EQ(tree(), "") << "no repository: nobody knows";
  git("init -q");
  std::vector<std::string> seen = {tree()};
  const auto expect_change = [&](const char* what) {
    seen.push_back(tree());
    EXPECT_FALSE(seen.back().empty()) << what;
    EXPECT_NE(seen.back(), seen[seen.size() - 2]) << what;
    EXPECT_EQ(seen.back(), tree()) << "looking changes nothing: " << what;
  };
  ScratchFolder::write(project_ + "/a b", "1\n");
  expect_change("a new file");
  ScratchFolder::write(project_ + "/a b", "1\n2\n");
  expect_change("more in a new file");
  git("add -A");
  git("commit -q -m one");
  expect_change("a commit");
  ScratchFolder::write(project_ + "/a b", "3\n4\n");
  expect_change("a changed file");
  std::filesystem::last_write_time(project_ + "/a b",
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  expect_change("a changed file written again");
  std::filesystem::remove(project_ + "/a b");
  expect_change("a removed file");
}

TEST_F(TreeTest, RalphsOwnFilesAreNoChange) {
  git("init -q");
  git("commit -q --allow-empty -m one");
  ASSERT_TRUE(store().start(request(), "s1", ""));
  const std::string before = (*store().load("s1"))->host.tree;
  EXPECT_FALSE(before.empty());
  store().count_tool_call("s1");
  ASSERT_TRUE(go_on());
  EXPECT_EQ(tree(), before);
}

TEST_F(TreeTest, NothingThatTheRepositoryNamesIsRun) {
  git("init -q");
  git(fmt::format("config core.fsmonitor 'touch {}/ran; false'", folder_.path()));
  EXPECT_FALSE(tree().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
}

}  // namespace
}  // namespace ralph
