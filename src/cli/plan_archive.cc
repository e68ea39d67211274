// ralph plan archive: archives a plan with a summary and makes room for the next.
#include <cstdio>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output_options.h"
#include "cli/plan_folders.h"
#include "cli/registry.h"
#include "git/git.h"
#include "os/clock.h"
#include "plan/archive.h"
#include "plan/authority.h"
#include "plan/marker.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

void show_archive(const PlanFiles& folders, const PlanArchive& archive) {
  const Style style = style_of_output(Environment::of_this_process());
  fmt::print("{}\n", style.bold(printable_lines(fmt::format("Archived in {}", folders.shown(archive.folder)))));
  fmt::print("  {}\n", printable_lines(join_for_people(archive.files)));
  fmt::print("  {} of {} done\n", archive.done, count_of(archive.total, "story"));
  fmt::print("{} has fresh templates; prompt.md was kept.\n", printable_lines(folders.shown(folders.ralph_dir)));
  if (archive.committed) {
    fmt::print("Committed.\n");
  } else {
    fmt::print("Not committed: {}.\n", printable_lines(archive.why_not_committed));
  }
  if (archive.problem.empty()) return;
  std::fflush(stdout);
  fmt::print(stderr, "Note: tasks.json has errors; it was archived as it is: {}\n", printable_lines(archive.problem));
}

// A note about the iteration that the last run left unchecked; empty: there is none.
std::string unchecked_in(const std::string& authority, const std::string& project) {
  auto loaded = authority.empty() ? Result<std::optional<SavedPlan>>() : load_plan(authority);
  if (!loaded || !*loaded) return {};
  SavedPlan& saved = **loaded;
  static_cast<void>(recall_from_journal(saved, project));  // an unreliable journal leaves nothing pending
  if (!saved.open && !saved.pending) return {};
  return fmt::format(
      "Note: the last run ended before its iteration {} ({} {}) was checked; what that left was archived as it is.\n",
      saved.iteration, saved.mode ? to_string(*saved.mode) : "?", saved.story);
}

Result<int> archive(const Arguments& arguments) {
  TRY_VALUE(const PlanFiles folders, plan_folders_to_change(arguments));
  if (arguments.value("label") == "") return fail(ErrorKind::kUsage, "--label is empty; leave it out or give one");
  TRY(expect_no_run(folders.project, "archive the plan when it has ended"));
  TRY_VALUE(const PlanCustody custody, take_plan(folders));
  ArchiveRequest request;
  request.files = folders;
  request.label = arguments.value("label").value_or("");
  request.now = SystemClock().wall();
  request.git = plain_git(folders.project);
  // Before anything is moved. A plan can be archived without git, but not if git fails.
  const auto exists = Repository(request.git, folders.project).exists();
  if (!exists && exists.error().kind != ErrorKind::kNotFound) return tl::unexpected(exists.error());
  request.authority = custody.authority;
  const std::string unchecked = unchecked_in(custody.authority, folders.project);
  TRY_VALUE(const PlanArchive made, archive_plan(request));
  show_archive(folders, made);
  std::fflush(stdout);
  fmt::print(stderr, "{}", printable_lines(unchecked));
  return 0;
}

constexpr Option kOptions[] = {
    kProjectDirOption,
    kRalphDirOption,
    {"label", 0, "LABEL", "The archive's name (default: the plan's branch)."},
};

}  // namespace

const Command kPlanArchive = {
    "plan archive",
    "Archive a plan with a summary, commit it, and make room for the next.",
    "Moves prd.md, tasks.json and progress.txt to ralph-archive/<date>-<branch or label>/, writes summary.md there\n"
    "(stories, dates, what the reviews found), resets ralph/ and commits exactly these files. prompt.md is kept.\n"
    "The plan need not be finished, and its tasks.json may have errors.",
    "ralph plan archive\n"
    "ralph plan archive --label first-attempt",
    kOptions,
    {},
    archive,
};

}  // namespace ralph::cli
