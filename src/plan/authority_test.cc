#include "plan/authority.h"

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/text.h"
#include "journal/words_for_tests.h"
#include "journal/writer.h"
#include "os/scratch_folder_for_tests.h"
#include "plan/plans_for_tests.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

Environment with(std::initializer_list<std::pair<std::string, std::string>> variables) {
  Environment environment;
  for (const auto& [name, value] : variables) environment.set(name, value);
  return environment;
}

std::string path_for(const Environment& environment, const std::string& ralph_dir) {
  const auto path = authority_path(environment, ralph_dir);
  return path ? *path : "error: " + path.error().message;
}

TEST(AuthorityPath, IsBelowTheUsersStateAndNamedAfterTheProject) {
  const std::string path = path_for(with({{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}}), "/home/me/shop/ralph");
  EXPECT_TRUE(path.starts_with("/s/ralph/plans/shop-")) << path;
  EXPECT_TRUE(path.ends_with(".json")) << path;
  EXPECT_EQ(path.size(), std::string("/s/ralph/plans/shop-0123456789abcdef.json").size());
}

TEST(AuthorityPath, IsTheSameInEveryVersion) {
  EXPECT_EQ(path_for(with({{"XDG_STATE_HOME", "/s"}}), "/home/me/shop/ralph"),
            "/s/ralph/plans/shop-a1a10cc726618235.json");
}

TEST(AuthorityPath, IsInTheHomeFolderWhereNoStateFolderIsSet) {
  for (const char* state : {"", "relative/path", "~/state"}) {
    const std::string path = path_for(with({{"XDG_STATE_HOME", state}, {"HOME", "/h"}}), "/p/ralph");
    EXPECT_TRUE(path.starts_with("/h/.local/state/ralph/plans/p-")) << path;
  }
  EXPECT_TRUE(path_for(with({{"HOME", "/h"}}), "/p/ralph").starts_with("/h/.local/state/ralph/plans/p-"));
}

TEST(AuthorityPath, NeedsSomeAbsoluteFolder) {
  for (const Environment& environment : {with({}), with({{"HOME", ""}}), with({{"HOME", "here"}})}) {
    const std::string error = path_for(environment, "/p/ralph");
    EXPECT_TRUE(says(error, "neither XDG_STATE_HOME nor HOME is set")) << error;
  }
}

TEST(AuthorityPath, IsAnotherForEveryPlan) {
  const Environment environment = with({{"HOME", "/h"}});
  const std::string one = path_for(environment, "/a/shop/ralph");
  EXPECT_NE(one, path_for(environment, "/b/shop/ralph")) << "two work trees of one repository";
  EXPECT_NE(one, path_for(environment, "/a/shop/ralph2")) << "two plans of one project";
}

TEST(AuthorityPath, AStrangeNameBecomesAPlainOne) {
  const Environment environment = with({{"HOME", "/h"}});
  EXPECT_TRUE(path_for(environment, "/p/a b;é/ralph").starts_with("/h/.local/state/ralph/plans/a_b___-"));
  EXPECT_LT(path_for(environment, "/p/" + std::string(300, 'x') + "/ralph").size(), 110U);
  EXPECT_TRUE(path_for(environment, "/ralph").starts_with("/h/.local/state/ralph/plans/"));
}

SavedPlan full_plan() {
  SavedPlan plan;
  plan.run_id = "20261115-103000-1a2b";
  plan.project = "/home/me/shop";
  plan.ralph_dir = "/home/me/shop/ralph";
  plan.iteration = 7;
  plan.open = true;
  plan.judged = true;
  plan.mode = Mode::kReview;
  plan.story = "US-\"1\"";
  plan.skip_review = true;
  plan.review_cap = 2;
  plan.tasks = text_of(list({story("US-1")}));
  plan.journal = std::string(64, 'a');
  plan.pinned = {"what and why\n", "{{RALPH_ASSIGNMENT}}\ttab \x01", "# Log\n"};
  plan.bases = {{"US-1", "abc"}, {"US 2", "def"}};
  plan.pending = PendingStep{"US-\"1\"", StoryStep::kApproved, {true, ReviewStatus::kApproved, 3, "fine\n"}};
  return plan;
}

TEST(SavedPlan, ComesBackAsItWasWritten) {
  const ScratchFolder folder;
  const std::string path = folder / "state/ralph/plans/x.json";
  const SavedPlan plan = full_plan();
  ASSERT_TRUE(save_plan(path, plan));
  const auto loaded = load_plan(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_TRUE(*loaded);
  const SavedPlan& back = **loaded;
  EXPECT_EQ(back.run_id, plan.run_id);
  EXPECT_EQ(back.project, plan.project);
  EXPECT_EQ(back.ralph_dir, plan.ralph_dir);
  EXPECT_EQ(back.iteration, 7);
  EXPECT_TRUE(back.open);
  EXPECT_TRUE(back.judged);
  EXPECT_EQ(back.mode, Mode::kReview);
  EXPECT_EQ(back.story, plan.story);
  EXPECT_TRUE(back.skip_review);
  EXPECT_EQ(back.review_cap, 2);
  EXPECT_EQ(back.tasks, plan.tasks);
  EXPECT_EQ(back.journal, plan.journal);
  EXPECT_EQ(back.pinned.prd, plan.pinned.prd);
  EXPECT_EQ(back.pinned.prompt, plan.pinned.prompt);
  EXPECT_EQ(back.pinned.progress, plan.pinned.progress);
}

TEST(SavedPlan, OfVersion01IsStillRead) {
  const ScratchFolder folder;
  ScratchFolder::write(
      folder / "x.json",
      R"({"v":1,"runId":"r","open":false,"judged":false,"iterationMode":"review","story":"A","tasks":"{}",)"
      R"("head":"abc","bases":{"A":"def"},"pending":{"story":"A","step":"approved","passes":true,)"
      R"("reviewStatus":"approved","reviewCount":2,"reviewFeedback":"good"}})");
  auto loaded = load_plan(folder / "x.json");
  ASSERT_TRUE(loaded && *loaded);
  SavedPlan& plan = **loaded;
  EXPECT_EQ(recall_from_journal(plan, folder.path()), "") << "it needs no journal";
  EXPECT_EQ(plan.mode, Mode::kReview);
  EXPECT_EQ(plan.head, "abc");
  EXPECT_EQ(plan.bases, (std::map<std::string, std::string>{{"A", "def"}}));
  ASSERT_TRUE(plan.pending);
  EXPECT_EQ(plan.pending->story, "A");
  EXPECT_EQ(plan.pending->step, "approved");
  EXPECT_EQ(plan.pending->review, (Review{true, ReviewStatus::kApproved, 2, "good"}));
}

class RecallTest : public ::testing::Test {
 protected:
  RecallTest() {
    std::filesystem::create_directories(run_);
    auto writer = JournalWriter::open(run_, redactor_, [] { return WallTime{Milliseconds(1)}; });
    record::PlanWork work;
    work.story = "A", work.head = "abc", work.base = "def";
    EXPECT_TRUE(writer->append(record::IterationStarted{1}) && writer->append(work));
    plan_.run_id = "20261115-202233-7f3a";
    plan_.journal = writer->last_hash();
    record::PlanChecked checked;
    checked.head = "abc", checked.bases = {{"A", "def"}},
    checked.pending = record::PendingReview{"A", StoryStep::kApproved, true, "approved", 1, ""};
    EXPECT_TRUE(writer->append(checked));
    last_ = writer->last_hash();
  }
  ~RecallTest() override { before_ ? ::setenv("XDG_STATE_HOME", before_->c_str(), 1) : ::unsetenv("XDG_STATE_HOME"); }

  // ralph has seen the journal's last record.
  void seal() const {
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
    const std::string path = seal_path(folder_.path(), plan_.run_id);
    std::filesystem::create_directories(parent_path(path));
    ScratchFolder::write(path, last_ + "\n");
  }

  ScratchFolder folder_;
  const std::optional<std::string> before_ = Environment::of_this_process().get("XDG_STATE_HOME");
  std::string last_;
  std::string run_ = folder_ / ".ralph/runs/20261115-202233-7f3a";
  Redactor redactor_{std::vector<std::string>{}};
  SavedPlan plan_;
};

TEST_F(RecallTest, AJournalThatLeadsToTheCopyIsBelievedToItsSeal) {
  seal();
  EXPECT_EQ(recall_from_journal(plan_, folder_.path()), "");
  EXPECT_EQ(plan_.head, "abc");
  EXPECT_EQ(plan_.bases, (std::map<std::string, std::string>{{"A", "def"}}));
  ASSERT_TRUE(plan_.pending);
  EXPECT_EQ(plan_.pending->step, "approved");
}

TEST_F(RecallTest, RecordsAfterTheSealAreNotBelieved) {
  EXPECT_EQ(recall_from_journal(plan_, folder_.path()), "");
  EXPECT_EQ(plan_.head, "abc");
  EXPECT_FALSE(plan_.pending) << "anybody may have added it";
}

TEST_F(RecallTest, AnyOtherJournalIsNotBelieved) {
  const std::string path = run_ + "/journal.jsonl";
  const std::string whole = ScratchFolder::read(path);
  std::string forged = whole;
  forged.replace(forged.find("abc"), 3, "xyz");
  const std::string behind = whole.substr(0, whole.find('\n') + 1);
  for (const std::string& text : {forged, behind, std::string()}) {
    ScratchFolder::write(path, text);
    EXPECT_NE(recall_from_journal(plan_, folder_.path()), "") << text;
    EXPECT_FALSE(plan_.pending);
    EXPECT_EQ(plan_.head, "");
  }
  std::filesystem::remove_all(folder_ / ".ralph");
  EXPECT_NE(recall_from_journal(plan_, folder_.path()), "");
}

TEST(SavedPlan, AMissingFileStaysMissing) {
  const ScratchFolder folder;
  SavedPlan plan;
  plan.pinned.prd = "";
  ASSERT_TRUE(save_plan(folder / "x.json", plan));
  const auto back = load_plan(folder / "x.json");
  ASSERT_TRUE(back && *back);
  EXPECT_EQ((*back)->pinned.prd, "") << "an empty file is a file";
  EXPECT_EQ((*back)->pinned.prompt, std::nullopt);
  EXPECT_EQ((*back)->mode, std::nullopt);
  EXPECT_FALSE((*back)->open);
  EXPECT_FALSE((*back)->pending);
}

TEST(SavedPlan, IsNobodyElsesToRead) {
  const ScratchFolder folder;
  ASSERT_TRUE(save_plan(folder / "x.json", full_plan()));
  struct stat info{};
  ASSERT_EQ(::stat((folder / "x.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST(SavedPlan, IsNulloptIfThereIsNone) {
  const ScratchFolder folder;
  const auto loaded = load_plan(folder / "x.json");
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(*loaded);
}

TEST(SavedPlan, IsForgottenWithItsCompanionFiles) {
  const ScratchFolder folder;
  ASSERT_TRUE(save_plan(folder / "x.json", full_plan()));
  ScratchFolder::write(folder / "x.json.objections", "");
  for (int i = 0; i < 2; ++i) {  // the second time there is no copy
    ASSERT_TRUE(forget_plan(folder / "x.json"));
    EXPECT_FALSE(load_plan(folder / "x.json").value());
    EXPECT_NE(::access((folder / "x.json.objections").c_str(), F_OK), 0);
  }
  ASSERT_EQ(::mkdir((folder / "d.json").c_str(), 0700), 0);
  const Status forgotten = forget_plan(folder / "d.json");
  ASSERT_FALSE(forgotten);
  EXPECT_TRUE(says(forgotten.error().message, "remove it yourself")) << forgotten.error().message;
}

TEST(SavedPlan, OfAnotherVersionIsRefusedWithAdvice) {
  const ScratchFolder folder;
  for (const char* text : {R"({"v": 3, "open": true})", R"({"open": true})", "[]"}) {
    ScratchFolder::write(folder / "x.json", text);
    const auto loaded = load_plan(folder / "x.json");
    ASSERT_FALSE(loaded) << text;
    EXPECT_TRUE(says(loaded.error().message, "was written by another version of ralph")) << loaded.error().message;
    EXPECT_TRUE(says(loaded.error().message, "remove it to start over")) << loaded.error().message;
  }
}

TEST(SavedPlan, ThatIsNotJsonIsAnErrorWithItsPath) {
  const ScratchFolder folder;
  for (const char* text : {"", "{\"v\": 1", "garbage"}) {
    ScratchFolder::write(folder / "x.json", text);
    const auto loaded = load_plan(folder / "x.json");
    ASSERT_FALSE(loaded) << text;
    EXPECT_TRUE(says(loaded.error().message, folder / "x.json")) << loaded.error().message;
  }
}

TEST(SavedPlan, SaysWhereItWouldHaveBeenKept) {
  const ScratchFolder folder;
  ScratchFolder::write(folder / "file", "");
  const auto saved = save_plan(folder / "file/ralph/x.json", full_plan());
  ASSERT_FALSE(saved);
  EXPECT_TRUE(says(saved.error().message, "XDG_STATE_HOME")) << saved.error().message;
}

}  // namespace
}  // namespace ralph
