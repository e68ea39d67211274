// The folder of a plan as it is made: ralph/{prd.md,tasks.json,progress.txt,prompt.md}, from the templates in
// share/plan.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace ralph {

inline constexpr std::string_view kPrdFile = "prd.md";
inline constexpr std::string_view kTasksFile = "tasks.json";
inline constexpr std::string_view kProgressFile = "progress.txt";
inline constexpr std::string_view kPromptFile = "prompt.md";
inline constexpr std::string_view kDefaultBranch = "ralph/feature-name";

// What the templates are filled in with.
struct PlanNames {
  std::string project;    // any text
  std::string branch;     // of tasks.json
  std::string ralph_dir;  // as the prompt names it: relative to the project if it is below it
  WallTime now{};
};

struct FreshFile {
  std::string_view name;  // "prd.md"
  std::string content;
};

// The four files, in the order in which people read them. Pure.
std::array<FreshFile, 4> fresh_plan(const PlanNames& names);

// The names that a plan gets: `name` (of `plan init --name`) is the project's and makes the branch ralph/<name>;
// without it the project is called like its folder. Fails with kUsage if git would not take the branch.
Result<PlanNames> plan_names(const std::string& project, const std::string& ralph_dir, std::string_view name,
                             WallTime now);

// Why "ralph/<name>" can't be a branch: the rules of git check-ref-format, and no leading dash. Empty: it can.
std::string fault_of_branch_name(std::string_view name);

struct MadePlan {
  std::vector<std::string> kept;     // files that were there and stay as they are
  std::vector<std::string> ignored;  // what was added to .gitignore
  std::string gitignore_note;        // why .gitignore was left as it is, if it should have been changed
};

// Writes those of the four files that are missing, with `force` all of them, and adds to the project's .gitignore what
// a run leaves behind. If none is missing and `force` is not given, or the folder is a symbolic link, or anything can't
// be written, all is left as it was.
Result<MadePlan> make_plan_files(const std::string& project, const std::string& ralph_dir, const PlanNames& names,
                                 bool force);

// `gitignore` with the lines that it lacks, its own line ends and everything in it kept; second: the lines added. Pure.
std::pair<std::string, std::vector<std::string>> with_plan_ignored(std::string_view gitignore);

// Fails if `folder` is there and is not a real folder. An agent could have put a link there to make ralph write
// elsewhere.
Status expect_real_folder(const std::string& folder);

// Nobody has written anything into it yet: it is empty, or nothing but headings and comments of the template.
bool is_untouched_prd(std::string_view text);

// The same for tasks.json, whatever the project is called.
bool is_untouched_tasks(std::string_view text);

}  // namespace ralph
