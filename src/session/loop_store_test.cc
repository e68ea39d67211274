#include "session/loop_store.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/scratch_folder.h"
#include "session/loop_log.h"

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
  std::string file(std::string_view name) const { return project_ + "/.ralph/loop/" + std::string(name); }

  ScratchFolder folder_;
  std::string project_ = folder_ / "p";
  Environment environment_;
};

TEST_F(LoopStoreTest, ALoopIsStartedFoundChangedAndEnded) {
  const std::string transcript = folder_ / "t.jsonl";
  ScratchFolder::write(transcript, "12345");
  const auto started = store().start(request("do it"), "s1", transcript);
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_EQ(started->transcript_start, 5U);
  EXPECT_EQ(started->transcript_read, 5U);
  EXPECT_EQ(project_of_session(environment_, "s1", project_), project_);

  auto changed = store().update("s1", [](LoopState& state) { ++state.iteration; });
  ASSERT_TRUE(changed.has_value() && changed->has_value());
  EXPECT_EQ((*store().load("s1"))->iteration, 1);

  ASSERT_TRUE((*store().update("s1", mark_cancelled)).has_value());
  EXPECT_FALSE((*store().load("s1")).has_value());
  EXPECT_FALSE((*store().update("s1", mark_cancelled)).has_value()) << "only once";
  EXPECT_TRUE(store().active().empty());
  ASSERT_EQ(store().history().size(), 1U);
  EXPECT_EQ(store().history()[0].request.task, "do it");
  EXPECT_EQ(store().history()[0].status, LoopStatus::kCancelled);
  EXPECT_EQ(project_of_session(environment_, "s1", project_), std::nullopt);
}

TEST_F(LoopStoreTest, ASecondLoopInASessionIsRefusedUntilTheFirstHasEnded) {
  ASSERT_TRUE(store().start(request("first"), "s1", ""));
  const auto second = store().start(request("second"), "s1", "");
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().kind, ErrorKind::kBusy);
  EXPECT_NE(second.error().message.find("ralph loop cancel --session s1"), std::string::npos);
  EXPECT_EQ((*store().load("s1"))->request.task, "first");
  ASSERT_TRUE(store().start(request("other"), "s2", ""));
  ASSERT_TRUE(store().update("s1", mark_cancelled));
  ASSERT_TRUE(store().start(request("second"), "s1", ""));
  EXPECT_EQ(store().active().size(), 2U);
}

TEST_F(LoopStoreTest, SessionsDoNotTouchEachOther) {
  ASSERT_TRUE(store().start(request("a"), "s1", ""));
  ASSERT_TRUE(store().start(request("b"), "s2", ""));
  ASSERT_TRUE(store().update("s1", [](LoopState& state) { state.iteration = 7; }));
  EXPECT_EQ((*store().load("s2"))->iteration, 0);
  EXPECT_EQ(project_of_session(environment_, "", project_), std::nullopt);
  EXPECT_EQ(project_of_session(environment_, "s3", project_), std::nullopt);
}

TEST_F(LoopStoreTest, AnySessionIdIsAHarmlessFileName) {
  for (const std::string& session :
       {std::string("../../evil"), std::string("a/b"), std::string("unbound"), std::string("."), std::string("ü ä"),
        std::string(5000, 'x'), std::string("hash-0123456789abcdef"), std::string("a\nb")}) {
    ASSERT_TRUE(store().start(request(), session, "")) << session;
    EXPECT_EQ(project_of_session(environment_, session, project_), project_) << session;
    EXPECT_EQ((*store().load(session))->session, session);
  }
  EXPECT_EQ(store().active().size(), 8U);
  EXPECT_FALSE((*store().load("")).has_value()) << "a session of that name is not the unbound loop";
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_TRUE(entry.path().filename() == "p" || entry.path().filename() == "home") << entry.path();
}

TEST_F(LoopStoreTest, ASessionIsFoundFromSubFoldersAndFromElsewhere) {
  std::filesystem::create_directories(project_ + "/a/b");
  ASSERT_TRUE(store().start(request(), "s1", ""));
  EXPECT_EQ(project_of_session(environment_, "s1", project_ + "/a/b"), project_);
  EXPECT_EQ(project_of_session(environment_, "s1", project_ + "/a/b/"), project_);
  EXPECT_EQ(project_of_session(environment_, "s1", folder_ / "elsewhere"), project_);
  EXPECT_EQ(project_of_session(environment_, "s1", ""), project_);
  Environment homeless = environment_;
  homeless.set("HOME", "");
  EXPECT_EQ(project_of_session(homeless, "s1", folder_ / "elsewhere"), std::nullopt);
  std::filesystem::remove_all(project_ + "/.ralph");
  EXPECT_EQ(project_of_session(environment_, "s1", folder_ / "elsewhere"), std::nullopt)
      << "a note that is out of date";
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
  EXPECT_EQ((*store().load("s1"))->session, "s1");
  EXPECT_EQ((*store().load("s1"))->transcript, folder_ / "t.jsonl");
  EXPECT_FALSE((*store().adopt("s2", "")).has_value());
  EXPECT_EQ(store().active().size(), 1U);
  EXPECT_EQ(project_of_session(environment_, "s1", "/"), project_);
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
  std::filesystem::rename(file("unbound.json"), file("s1.json"));
  EXPECT_EQ((*store().load("s1"))->session, "s1");
  ASSERT_TRUE((*store().update("s1", mark_cancelled)).has_value());
  EXPECT_EQ(store().history().at(0).session, "s1");
}

TEST_F(LoopStoreTest, AnEndThatWasCutOffIsAnEnd) {
  ASSERT_TRUE(store().start(request("first"), "s1", ""));
  LoopState state = **store().load("s1");
  mark_cancelled(state);
  ASSERT_TRUE(LoopLog(file("s1.jsonl")).append(state, state.decisions[0]));
  EXPECT_FALSE((*store().update("s1", mark_cancelled)).has_value());
  EXPECT_TRUE(store().active().empty());
  ASSERT_TRUE(store().start(request("second"), "s1", ""));
  EXPECT_EQ(store().history().at(0).status, LoopStatus::kCancelled);
  EXPECT_EQ(store().history().at(0).request.task, "first");
  EXPECT_EQ((*store().load("s1"))->request.task, "second");
  EXPECT_TRUE((*store().load("s1"))->active());
}

TEST_F(LoopStoreTest, ALineThatWasCutOffIsAsIfItWereNotThere) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  ASSERT_TRUE(store().update("s1", [](LoopState& state) { state.iteration = 1; }));
  const std::string whole = ScratchFolder::read(file("s1.jsonl"));
  for (size_t length = 1; length < whole.size(); length += 5) {
    ScratchFolder::write(file("s1.jsonl"), whole + whole.substr(0, length));
    EXPECT_EQ((*store().load("s1"))->iteration, 1) << length;
  }
  ASSERT_TRUE(store().update("s1", [](LoopState& state) { ++state.iteration; }));
  EXPECT_EQ((*store().load("s1"))->iteration, 2);
}

TEST_F(LoopStoreTest, ALineOfAnyLengthIsFound) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  ASSERT_TRUE(store().update("s1", [](LoopState& state) {
    state.iteration = 3;
    state.recent_calls = std::vector<std::string>(32, std::string(2000, 'i'));
  }));
  EXPECT_EQ((*store().load("s1"))->iteration, 3);
}

TEST_F(LoopStoreTest, ToolCallsAreCountedForLoopsOnly) {
  store().count_tool_call("s1");
  EXPECT_EQ(store().counted_tool_calls("s1"), 0);
  ASSERT_TRUE(store().start(request(), "s1", ""));
  for (int i = 0; i < 5; ++i) store().count_tool_call("s1");
  store().count_tool_call("");
  store().count_tool_call("s2");
  EXPECT_EQ(store().counted_tool_calls("s1"), 5);
  ASSERT_TRUE(store().update("s1", mark_cancelled));
  ASSERT_TRUE(store().start(request(), "s1", ""));
  EXPECT_EQ(store().counted_tool_calls("s1"), 0) << "of the loop before";
}

TEST_F(LoopStoreTest, ManyWritersAtOnceLoseNothing) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  constexpr int kWriters = 8;
  constexpr int kTimes = 10;
  std::vector<pid_t> children;
  for (int i = 0; i < kWriters; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int k = 0; k < kTimes; ++k) {
        const auto done = store().update("s1", [](LoopState& state) { ++state.iteration; });
        good = good && done && *done;
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

TEST_F(LoopStoreTest, EveryDecisionIsKeptBesideTheStateAndThenInTheHistory) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  const auto size = [&] { return std::filesystem::file_size(file("s1.json")); };
  const auto before = size();
  for (int i = 1; i <= 300; ++i) {
    ASSERT_TRUE(store().update("s1", [i](LoopState& state) {
      state.iteration = i;
      state.decisions.push_back({"t", i, "continue", "promise_missing", "the promise is missing"});
    }));
  }
  EXPECT_EQ(size(), before) << "the state does not grow";
  ASSERT_EQ(store().active().at(0).decisions.size(), 300U);
  std::ofstream(file("s1.jsonl"), std::ios::app) << "{\"time\":\"cut of";
  ASSERT_TRUE(store().update("s1", [](LoopState& state) {
    state.decisions.push_back({"t", 300, "stop", "promise_accepted", "over"});
    state.status = LoopStatus::kPromiseAccepted;
  }));
  const LoopState ended = store().history().at(0);
  ASSERT_EQ(ended.decisions.size(), 301U);
  EXPECT_EQ(ended.decisions.front().iteration, 1);
  EXPECT_EQ(ended.decisions.back().rule, "promise_accepted");
  EXPECT_FALSE(std::filesystem::exists(file("s1.jsonl")));
}

TEST_F(LoopStoreTest, ADamagedFileIsAnErrorAndStaysForAPersonToSee) {
  ASSERT_TRUE(store().start(request(), "s1", ""));
  ScratchFolder::write(file("s1.json"), "{\"v\":1,");
  EXPECT_FALSE(store().update("s1", mark_cancelled).has_value());
  EXPECT_FALSE(store().start(request(), "s1", "").has_value());
  EXPECT_EQ(ScratchFolder::read(file("s1.json")), "{\"v\":1,");
  EXPECT_TRUE(store().active().empty());
}

TEST_F(LoopStoreTest, NothingGoesThroughALink) {
  const std::string elsewhere = folder_ / "home";
  std::filesystem::create_directories(elsewhere + "/history");
  std::filesystem::create_directories(project_ + "/.ralph");
  std::filesystem::create_directory_symlink(elsewhere, project_ + "/.ralph/loop");
  EXPECT_FALSE(store().start(request(), "s1", "").has_value());
  LoopState state;
  state.request = request();
  ScratchFolder::write(elsewhere + "/s1.json", json::serialize(to_json(state)));
  EXPECT_EQ(project_of_session(environment_, "s1", project_), std::nullopt);
  EXPECT_FALSE((*store().update("s1", mark_cancelled)).has_value());
  EXPECT_FALSE((*store().load("s1")).has_value());
  EXPECT_FALSE((*store().adopt("s1", "")).has_value());
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
  const std::string before = (*store().load("s1"))->tree;
  EXPECT_FALSE(before.empty());
  store().count_tool_call("s1");
  ASSERT_TRUE(store().update("s1", [](LoopState& state) { ++state.iteration; }));
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
