#include "plan/scaffold.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "embedded_plan.h"
#include "json/value.h"
#include "os/scratch_folder_for_tests.h"
#include "plan/stories.h"

namespace ralph {
namespace {

using Lines = std::vector<std::string>;

PlanNames names_of(std::string project) {
  return {std::move(project), "ralph/login", *from_iso8601("2026-11-15T20:22:33.123Z")};
}

std::string file_of(std::string_view name, const PlanNames& names) {
  for (const FreshFile& file : fresh_plan(names)) {
    if (file.name == name) return file.content;
  }
  return "";
}

TEST(PlanFiles, HaveATaskListThatIsInOrder) {
  for (const char* project : {"shop", "a \"quoted\" \\ name", "línea", "bad \xff byte", "two\nlines", "{{DATE}}"}) {
    const std::string text = file_of(kTasksFile, names_of(project));
    const StoryReading reading = read_tasks(text, "tasks.json");
    for (const PlanProblem& problem : reading.problems) ADD_FAILURE() << problem.message;
    ASSERT_TRUE(reading.tasks) << text;
    EXPECT_EQ(reading.tasks->branch, "ralph/login");
    EXPECT_FALSE(reading.tasks->stories.at(0).criteria.empty());
  }
  EXPECT_EQ(read_tasks(file_of(kTasksFile, names_of("a \"b\" \\")), "x").tasks->project, "a \"b\" \\");
}

TEST(PlanFiles, HaveEveryPlaceFilledInExceptThoseOfARun) {
  const PlanNames names = names_of("shop");
  EXPECT_EQ(file_of(kProgressFile, names),
            "# Ralph Progress Log\nStarted: 2026-11-15T20:22:33Z\nPRD: shop\n\n## Codebase Patterns\n"
            "- (Reusable patterns discovered during this loop)\n\n---\n");
  for (const FreshFile& file : fresh_plan(names)) {
    for (size_t at = 0; (at = file.content.find("{{", at)) != std::string::npos; ++at) {
      const std::string_view place = std::string_view(file.content).substr(at, 8);
      EXPECT_TRUE(file.name == kPromptFile && place == "{{RALPH_") << file.name << ": " << place;
    }
  }
  EXPECT_NE(file_of(kPromptFile, names).find("`{{RALPH_DIR}}/tasks.json`"), std::string::npos);
}

TEST(PlanFiles, HaveAPromptWithEveryPlaceThatARunFillsIn) {
  for (const char* place :
       {"{{RALPH_ITERATION}}", "{{RALPH_MAX_ITERATIONS}}", "{{RALPH_ASSIGNMENT}}", "{{RALPH_MODE}}", "{{RALPH_STORY}}",
        "{{RALPH_REVIEW_CAP}}", "<promise>COMPLETE</promise>", "[AUTO-APPROVED AT CAP]"}) {
    EXPECT_NE(embedded::prompt_md.find(place), std::string_view::npos) << place;
  }
}

TEST(PlanFiles, HaveAPrdWithTheTenSections) {
  size_t at = 0;
  for (const char* section :
       {"## 1. Summary\n", "## 2. Problem Statement\n", "## 3. Goals\n", "## 4. Non-Goals\n",
        "## 5. Background & Context\n", "## 6. Technical Design\n", "### 6a. ", "### 6b. ", "### 6c. ", "### 6d. ",
        "### 6e. ", "## 7. Constraints\n", "## 8. Edge Cases & Error Handling\n", "## 9. Risks & Mitigations\n",
        "## 10. Open Questions\n"}) {
    const size_t found = embedded::prd_md.find(section, at);
    ASSERT_NE(found, std::string_view::npos) << section;
    at = found;
  }
}

TEST(PlanNamesOf, TakeTheFolderOrTheGivenName) {
  const auto plain = plan_names("/home/me/my shop", "", WallTime{}, {});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->project, "my shop");
  EXPECT_EQ(plain->branch, "ralph/my-shop");
  const auto named = plan_names("/home/me/shop", "login/step-1", WallTime{}, {});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->project, "login/step-1");
  EXPECT_EQ(named->branch, "ralph/login/step-1");
  EXPECT_EQ(plan_names("/", "", WallTime{}, {})->project, "project");
}

TEST(PlanNamesOf, HaveABranchThatGitCanMake) {
  const auto branch = [](const std::string& project, std::string_view name, const Lines& branches) {
    return plan_names(project, name, WallTime{}, branches)->branch;
  };
  EXPECT_EQ(branch("/x/..a~b^ (2).lock", "", {}), "ralph/a-b-2-lock");
  EXPECT_EQ(branch("/x/\xc3\xa9\xff", "", {}), "ralph/plan");
  EXPECT_EQ(fault_of_branch_name(branch("/" + std::string(300, 'a'), "", {})), "");
  EXPECT_EQ(branch("/shop", "", {"main", "ralph/shop"}), "ralph/shop-2") << "an older plan's";
  EXPECT_EQ(branch("/shop", "", {"ralph/shop", "ralph/shop-2"}), "ralph/shop-3");
  EXPECT_EQ(branch("/shop", "", {"ralph/shop/x"}), "ralph/shop-2") << "ralph/shop would be a folder and a branch";
  EXPECT_EQ(branch("/shop", "", {"ralph"}), "ralph-shop") << "no branch is below another";
  EXPECT_EQ(branch("/shop", "login", {"ralph/login"}), "ralph/login") << "a name that was given may be gone on with";
  EXPECT_EQ(branch("/shop", "login/x", {"ralph/login"}), "ralph-login-x");
  EXPECT_EQ(branch("/shop", "login", {"ralph/login/x"}), "ralph/login-2");
}

TEST(BranchName, IsTakenIfGitTakesIt) {
  for (const char* name : {"login", "a/b", "x.y", "1", "ünïcode", "@", "a@b", "-"})
    EXPECT_EQ(fault_of_branch_name(name).empty(), std::string_view(name) != "-") << name;
}

TEST(BranchName, IsRefusedForEveryReasonThatGitHas) {
  for (const char* name :
       {"",   " ",    "a b", "a..b", "..",   ".",      ".a",       "a/.b", "a.", "a~",   "a^",   "a:b",   "a?",   "a*",
        "a[", "a\\b", "/a",  "a/",   "a//b", "a.lock", "a.lock/b", "a@{b", "-a", "a\tb", "a\nb", "a\x7f", "a\xff"}) {
    EXPECT_FALSE(fault_of_branch_name(name).empty()) << name;
  }
  EXPECT_FALSE(fault_of_branch_name(std::string(201, 'a')).empty());
  const auto refused = plan_names("/p", "my feature", WallTime{}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
}

constexpr std::string_view kRejectedLines =
    ".ralph-active.rejected-*\ntasks.json.rejected-*\nprd.md.rejected-*\nprompt.md.rejected-*\n"
    "progress.txt.rejected-*\n";

TEST(Gitignore, GetsWhatItLacks) {
  const std::string all = fmt::format(".ralph-active\n{}", kRejectedLines);
  const Lines names = {".ralph-active",     ".ralph-active.rejected-*", "tasks.json.rejected-*",
                       "prd.md.rejected-*", "prompt.md.rejected-*",     "progress.txt.rejected-*"};
  EXPECT_EQ(with_plan_ignored(""), std::pair(all, names));
  EXPECT_EQ(with_plan_ignored("a\n"), std::pair("a\n" + all, names));
  EXPECT_EQ(with_plan_ignored(fmt::format("a\n/.ralph-active\n{}", kRejectedLines)),
            std::pair(fmt::format("a\n/.ralph-active\n{}", kRejectedLines), Lines{}));
  EXPECT_EQ(with_plan_ignored(fmt::format("**/.ralph-active\n{}x", kRejectedLines)).second, Lines{});
  EXPECT_EQ(with_plan_ignored("#.ralph-active\nx.ralph-active\n*.rejected-*\n").second, names);
  EXPECT_EQ(
      with_plan_ignored(".ralph-active\nprd.md.rejected-*").second,
      (Lines{".ralph-active.rejected-*", "tasks.json.rejected-*", "prompt.md.rejected-*", "progress.txt.rejected-*"}));
}

TEST(Gitignore, KeepsItsLineEndsAndHowItEnds) {
  const std::string lines = replace_all(kRejectedLines, "\n", "\r\n");
  EXPECT_EQ(with_plan_ignored("a\r\n").first, "a\r\n.ralph-active\r\n" + lines);
  EXPECT_EQ(with_plan_ignored("a\r\nb").first, "a\r\nb\r\n.ralph-active\r\n" + lines.substr(0, lines.size() - 2));
  EXPECT_EQ(with_plan_ignored("a").first,
            fmt::format("a\n.ralph-active\n{}", kRejectedLines.substr(0, kRejectedLines.size() - 1)));
  EXPECT_EQ(with_plan_ignored(lines + ".ralph-active \r\n").first, lines + ".ralph-active \r\n");
}

TEST(Prd, IsUntouchedUntilSomebodyWritesIntoIt) {
  EXPECT_TRUE(is_untouched_prd(""));
  EXPECT_TRUE(is_untouched_prd(" \n\t\n"));
  const std::string fresh = file_of(kPrdFile, names_of("shop"));
  EXPECT_TRUE(is_untouched_prd(fresh));
  EXPECT_TRUE(is_untouched_prd("# My own title\n\n## 1. Summary\n<!-- to be written -->\n## 2. Problem Statement"));
  EXPECT_TRUE(is_untouched_prd("<!-- never closed, so nothing is said\nword"));
  EXPECT_FALSE(is_untouched_prd("Build a shop.\n"));
  EXPECT_FALSE(is_untouched_prd("## 1. Summary\n<!-- a --> A shop. <!-- b -->\n"));
  EXPECT_FALSE(is_untouched_prd(fresh + "- one question\n"));
  std::string windows;
  for (const char c : fresh) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_TRUE(is_untouched_prd(windows));
}

TEST(Tasks, AreUntouchedWhateverTheProjectIsCalled) {
  const std::string fresh = file_of(kTasksFile, names_of("shop"));
  EXPECT_TRUE(is_untouched_tasks(fresh));
  EXPECT_TRUE(is_untouched_tasks(to_pretty_json(*parse_json(fresh, "x"))));
  EXPECT_TRUE(is_untouched_tasks("\n"));
  EXPECT_FALSE(is_untouched_tasks("{"));
  EXPECT_FALSE(is_untouched_tasks("[]"));
  EXPECT_FALSE(is_untouched_tasks("{}"));
  auto changed = *parse_json(fresh, "x");
  changed.at("userStories").at(0).at("notes") = "begun";
  EXPECT_FALSE(is_untouched_tasks(to_pretty_json(changed)));
}

TEST(MakePlanFiles, LeavesNothingBehindIfSomethingCannotBeWritten) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / ".gitignore.d");
  ScratchFolder::write(folder / "plans", "a file where a folder should be");
  const auto made = make_plan_files(folder.path(), folder / "plans/a/b", names_of("shop"), false);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("plans"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder / ".gitignore"));
}

TEST(MakePlanFiles, MakesWhatIsMissingAndNeverReplacesWithoutForce) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "ralph");
  ScratchFolder::write(folder / "ralph/prompt.md", "mine");
  const auto made = make_plan_files(folder.path(), folder / "ralph", names_of("shop"), false);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->kept, std::vector<std::string>{"prompt.md"});
  EXPECT_EQ(ScratchFolder::read(folder / "ralph/prompt.md"), "mine");
  EXPECT_TRUE(std::filesystem::exists(folder / "ralph/prd.md"));

  const auto refused = make_plan_files(folder.path(), folder / "ralph", names_of("shop"), false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("prompt.md already"), std::string::npos) << refused.error().message;
  EXPECT_NE(refused.error().message.find("--force"), std::string::npos);

  ASSERT_TRUE(make_plan_files(folder.path(), folder / "ralph", names_of("shop"), true));
  EXPECT_TRUE(ScratchFolder::read(folder / "ralph/prompt.md").starts_with("# Ralph loop"));
  EXPECT_EQ(ScratchFolder::read(folder / ".gitignore"), fmt::format(".ralph-active\n{}", kRejectedLines));
}

}  // namespace
}  // namespace ralph
