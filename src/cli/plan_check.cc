// ralph plan check: checks whether the plan is in order.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output_options.h"
#include "cli/plan_folders.h"
#include "cli/registry.h"
#include "git/git.h"
#include "os/environment.h"
#include "plan/project_check.h"
#include "plan/scaffold.h"
#include "settings/settings.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    kProjectDirOption,
    kRalphDirOption,
    Option{"skip-review", 0, "", "Skip the review checks, as plan run --skip-review does."},
    Option{"json", 0, "", "Print the result as JSON."},
};

std::string listed(const std::vector<Check>& checks) {
  std::vector<std::string> numbers;
  for (const Check check : checks) numbers.emplace_back(to_string(check));
  return fmt::format("check{} {}", numbers.size() == 1 ? "" : "s", join_for_people(numbers));
}

void print_check(const CheckReport& report, bool skip_review) {
  const Style style = style_of_output(Environment::of_this_process());
  for (const PlanProblem& problem : report.problems) {
    fmt::print("{} {} {}\n", style.red(style.error()), style.dim(fmt::format("[{}]", to_string(problem.check))),
               printable_lines(problem.message));
  }
  for (const std::string& warning : report.warnings) fmt::print("{} {}\n", style.yellow(style.note()), warning);
  if (!report.passed()) return;
  fmt::print("{} The plan is in order ({}): {} of {} done\n", style.green(style.ok()), listed(report.performed),
             count_done(*report.tasks, skip_review), count_of(report.tasks->stories.size(), "story"));
}

Result<int> check_plan(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  ProjectCheck project;
  TRY_VALUE(project.files, plan_folders(arguments));
  TRY_VALUE(const LoadedSettings loaded, load_settings(project.files.project));
  project.skip_review = arguments.has("skip-review") || loaded.settings.plan.skip_review;
  project.review_cap = loaded.settings.plan.review_cap;
  TRY_VALUE(project.marker, live_marker(project.files.project));
  if (project.marker) {
    TRY_VALUE(const std::string path, authority_path(environment, project.files.ralph_dir));
    TRY_VALUE(project.authority, load_plan(path));
    const bool current =
        project.authority && project.authority->open && project.authority->run_id == project.marker->run_id;
    if (!current) project.authority.reset();
  }
  TRY_VALUE(CheckReport report,
            check_project(project, Repository(plain_git(project.files.project), project.files.project)));
  if (is_untouched_tasks(read_plain_file(project.files.tasks()).value_or(""))) {
    report.warnings.push_back(fmt::format("{} is still the template; 'ralph plan run' needs a plan of your own",
                                          project.files.shown(project.files.tasks())));
  }
  const bool skip = project.marker ? project.marker->skip_review : project.skip_review;
  if (arguments.has("json")) {
    fmt::print("{}", to_pretty_json(to_json(report)));
  } else {
    print_check(report, skip);
  }
  return report.passed() ? 0 : 1;
}

}  // namespace

const Command kPlanCheck = {
    "plan check",
    "Check a plan: its schema, its review fields, and whether everything is committed.",
    R"(Check 1 validates tasks.json: its schema, unique ids and valid dependencies. Check 2 validates the review fields
against each other. Check 2.5, during a run, compares what the current iteration has changed with what its mode allows.
Check 3 looks for uncommitted work. `ralph plan run` runs the same checks after every iteration, and so does the Stop
hook.

Exit codes: 0 the plan is in order, 1 it is not, 2 it could not be checked.)",
    "ralph plan check\n       ralph plan check --json",
    kOptions,
    {},
    check_plan,
};

}  // namespace ralph::cli
