// The files of a task: names, run-info.yaml, dependencies, and the prompt of an attempt.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "os/files.h"
#include "os/lock.h"
#include "os/process_tree.h"
#include "os/scratch_folder_for_tests.h"
#include "task/attempt_folder.h"
#include "task/dependencies.h"
#include "task/run_info.h"
#include "task/task_state.h"
#include "task/task_way.h"

namespace ralph {
namespace {

class TaskFiles : public ::testing::Test {
 protected:
  TaskPlace task(std::string_view name = "t") {
    const TaskPlace place = *task_place(folder_.path(), "p", name);
    EXPECT_TRUE(make_task_folder(place));
    return place;
  }

  ScratchFolder folder_;
  const WallTime now_{Milliseconds(1'794'800'000'000)};
};

TEST_F(TaskFiles, NamesAreOneFolderEach) {
  for (const char* bad : {"", ".", "..", "a/b", "../a", "a..b", "-x", ".hidden", "a\nb", "/"}) {
    EXPECT_FALSE(task_place(folder_.path(), "p", bad)) << bad;
    EXPECT_FALSE(task_place(folder_.path(), bad, "t")) << bad;
  }
  for (const char* good : {"a", "a b", "task-001", "ünï", "a.b"})
    EXPECT_TRUE(task_place(folder_.path(), "p", good)) << good;
}

TEST_F(TaskFiles, RefusesFoldersThatAreLinks) {
  std::filesystem::create_directory(folder_ / "elsewhere");
  std::filesystem::create_directory(folder_ / "p");
  std::filesystem::create_symlink(folder_ / "elsewhere", folder_ / "p/t");
  EXPECT_FALSE(make_task_folder(*task_place(folder_.path(), "p", "t")));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "elsewhere"));
}

TEST_F(TaskFiles, DoneIsAPlainFileOrAnError) {
  const TaskPlace place = task();
  EXPECT_EQ(*is_done(place), false);
  std::filesystem::create_directory(place.done());
  EXPECT_FALSE(is_done(place));
  std::filesystem::remove(place.done());
  std::filesystem::create_symlink("/nowhere", place.done());
  EXPECT_FALSE(is_done(place));
  std::filesystem::remove(place.done());
  std::ofstream(place.done()) << "";
  EXPECT_EQ(*is_done(place), true);
}

TEST_F(TaskFiles, RunInfoComesBackAsItWas) {
  const TaskPlace place = task();
  RunInfo info;
  info.parent_run_id = "yes";
  info.agent = "a: \"b\"";
  info.commandline = "sh -c 'echo \"x\"\n# y'";
  const auto made = create_attempt(place, info, now_);
  ASSERT_TRUE(made) << made.error().message;
  RunInfo ended = *made;
  ended.pid = ended.pgid = 4711;
  ended.process_start_time = 99;
  ended.end_time = now_ + Milliseconds(1500);
  ended.exit_code = 3;
  ended.status = AttemptStatus::kFailed;
  ended.error_summary = "exit code 3: - oops";
  ASSERT_TRUE(write_run_info(ended));
  const auto read = read_run_info(ended.folder);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->run_id, ended.run_id);
  EXPECT_EQ(read->parent_run_id, "yes");
  EXPECT_EQ(read->agent, info.agent);
  EXPECT_EQ(read->commandline, info.commandline);
  EXPECT_EQ(read->error_summary, ended.error_summary);
  EXPECT_EQ(read->end_time, ended.end_time);
  EXPECT_EQ(read->exit_code, 3);
  EXPECT_EQ(read->process_start_time, 99U);
  EXPECT_EQ(read->status, AttemptStatus::kFailed);
}

TEST_F(TaskFiles, ANewerRunInfoIsRefused) {
  const TaskPlace place = task();
  const auto made = create_attempt(place, {}, now_);
  ASSERT_TRUE(made);
  std::ofstream(made->file(kRunInfoFile)) << "version: 2\nrun_id: x\nstatus: dreaming\n";
  EXPECT_FALSE(read_run_info(made->folder));
}

TEST_F(TaskFiles, AttemptsOfOneSecondSortInTheirOrder) {
  const TaskPlace place = task();
  std::string last;
  for (int i = 0; i < 50; ++i) {
    const auto made = create_attempt(place, {}, now_);
    ASSERT_TRUE(made);
    EXPECT_GT(made->run_id, last);
    last = made->run_id;
  }
}

TEST_F(TaskFiles, OnlyTheDeadAreCorrectedAndOnlyWithoutASupervisor) {
  const TaskPlace place = task();
  RunInfo alive = *create_attempt(place, {}, now_);
  alive.pid = ::getpid();
  alive.process_start_time = start_time_of(alive.pid);
  ASSERT_TRUE(write_run_info(alive));
  RunInfo reused = *create_attempt(place, {}, now_);
  reused.pid = ::getpid();
  reused.process_start_time = alive.process_start_time + 1;  // the pid now belongs to another process
  ASSERT_TRUE(write_run_info(reused));
  {
    const auto supervisor = Lock::acquire(place.lock());
    ASSERT_TRUE(supervisor);
    ASSERT_TRUE(correct_dead_attempts(place));
    EXPECT_EQ(read_run_info(reused.folder)->status, AttemptStatus::kRunning);
  }
  ASSERT_TRUE(correct_dead_attempts(place));
  EXPECT_EQ(read_run_info(reused.folder)->status, AttemptStatus::kFailed);
  EXPECT_TRUE(read_run_info(reused.folder)->end_time);
  EXPECT_EQ(read_run_info(alive.folder)->status, AttemptStatus::kRunning);
}

TEST_F(TaskFiles, CyclesOfDependenciesAreRefusedAndChangeNothing) {
  const TaskPlace a = task("a"), b = task("b"), c = task("c");
  ASSERT_TRUE(set_dependencies(b, {"a"}));
  ASSERT_TRUE(set_dependencies(c, {"b", "a"}));
  const Status cycle = set_dependencies(a, {"c"});
  ASSERT_FALSE(cycle);
  EXPECT_NE(cycle.error().message.find("a waits for c waits for b waits for a"), std::string::npos)
      << cycle.error().message;
  EXPECT_TRUE(dependencies_of(a).empty());
  EXPECT_FALSE(set_dependencies(a, {"a"}));
  EXPECT_FALSE(set_dependencies(a, {"nobody"}));
  EXPECT_EQ(dependencies_of(c), (std::vector<std::string>{"b", "a"}));
}

TEST_F(TaskFiles, AttemptsSortAsTheyBeganAlsoWhenTheClockGoesBackOrASecondIsFull) {
  const TaskPlace place = task();
  std::string last;
  for (const WallTime now : {now_, now_, now_ - std::chrono::hours(1), now_ + std::chrono::seconds(1)}) {
    const auto made = create_attempt(place, {}, now);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_GT(made->run_id, last);
    last = made->run_id;
  }
  std::filesystem::create_directory(place.runs() + "/20261231-235959-ffff");
  const auto next = create_attempt(place, {}, now_);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_TRUE(next->run_id.starts_with("20270101-000000-")) << next->run_id;
  EXPECT_EQ(run_infos_of(place).back().run_id, next->run_id);
}

TEST_F(TaskFiles, ARestartIsToldThatItContinues) {
  const TaskPlace place = task();
  EXPECT_EQ(attempt_prompt(place, "do it", 1, ""), "do it");
  const std::string again = attempt_prompt(place, "do it", 2, "20261117-083012-7f3a");
  EXPECT_TRUE(again.starts_with("This continues earlier attempts"));
  EXPECT_NE(again.find(place.runs() + "/20261117-083012-7f3a/output.md"), std::string::npos);
  EXPECT_TRUE(again.ends_with("\n\ndo it"));
}

TEST_F(TaskFiles, StateIsToldFromTheFolderAlone) {
  const TaskPlace place = task();
  EXPECT_EQ(state_of(place)->status, "new");
  std::ofstream(place.done()) << "";
  EXPECT_EQ(state_of(place)->status, "completed");
  auto lock = Lock::acquire(place.lock());
  ASSERT_TRUE(lock);
  ASSERT_TRUE(lock->name_owner(line_of({"run", "since", 12, 34})));
  const auto state = state_of(place);
  EXPECT_EQ(state->status, "running");
  EXPECT_EQ(state->supervisor->pid, 12);
}

}  // namespace
}  // namespace ralph
