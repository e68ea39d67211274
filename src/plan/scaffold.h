// Creates the folder of a plan: ralph/{prd.md,tasks.json,progress.txt,prompt.md}, from the templates in share/plan.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "plan/plan_files.h"

namespace ralph {

// The values for the templates' placeholders.
struct PlanNames {
  std::string project;  // any text
  std::string branch;   // of tasks.json
  WallTime now{};
};

struct FreshFile {
  std::string_view name;  // "prd.md"
  std::string content;
};

// The four files, in the order in which people read them. Pure.
std::array<FreshFile, 4> fresh_plan(const PlanNames& names);

// The names of a plan. `name` (from `plan init --name`) names the project and the branch ralph/<name>. By default the
// project is named after its folder, and the branch after the project. The branch does not conflict with the existing
// `branches`. Fails with kUsage if git would reject the given name.
Result<PlanNames> plan_names(const std::string& project, std::string_view name, WallTime now,
                             const std::vector<std::string>& branches);

// Why "ralph/<name>" can't be a branch: the rules of git check-ref-format, and no leading dash. Empty: it is valid.
std::string fault_of_branch_name(std::string_view name);

struct MadePlan {
  std::vector<std::string> kept;     // existing files, left unchanged
  std::vector<std::string> ignored;  // lines added to .gitignore
  std::string gitignore_note;        // why .gitignore could not be changed
};

// Writes the missing files of the four, or all with `force`, and adds the files that a run leaves behind to the
// project's .gitignore. Changes nothing if no file is missing (without `force`), if the folder is a symlink, or if
// writing fails.
Result<MadePlan> make_plan_files(const std::string& project, const std::string& ralph_dir, const PlanNames& names,
                                 bool force);

// `gitignore` with the missing lines added, in its own line-ending style, and the list of added lines. Pure.
std::pair<std::string, std::vector<std::string>> with_plan_ignored(std::string_view gitignore);

// Fails if `folder` exists but is not a real folder: an agent could have put a link there to redirect ralph's writes.
Status expect_real_folder(const std::string& folder);

// Whether prd.md is still the template: empty, or only the template's headings and comments.
bool is_untouched_prd(std::string_view text);

// Whether tasks.json is still the template, with any project name.
bool is_untouched_tasks(std::string_view text);

}  // namespace ralph
