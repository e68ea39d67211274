// ralph plan init: creates the folder of a plan with templates.
#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output_options.h"
#include "cli/plan_folders.h"
#include "cli/registry.h"
#include "git/git.h"
#include "git/repository.h"
#include "json/value.h"
#include "os/clock.h"
#include "os/files.h"
#include "plan/authority.h"
#include "plan/marker.h"
#include "plan/scaffold.h"
#include "settings/project_scan.h"
#include "settings/settings.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFiles = {{
    {kPrdFile, "what to build and why: yours to write, read by every iteration"},
    {kTasksFile, "the stories and their progress"},
    {kProgressFile, "what iterations learn and pass on"},
    {kPromptFile, "what the agent is told each time; adapt it if you like"},
}};

// The options that the next commands also need.
std::string same_folders(const Arguments& arguments) {
  std::string words;
  for (const std::string_view option : {"project-dir", "ralph-dir"}) {
    const auto value = arguments.value(option);
    if (value) words += fmt::format(" --{} {}", option, quote_shell_words(std::array{std::string(*value)}));
  }
  return words;
}

// The option that makes `ralph init` work in the same project.
std::string in_project(const Arguments& arguments) {
  const auto value = arguments.value("project-dir");
  return value ? fmt::format("-C {} ", quote_shell_words(std::array{std::string(*value)})) : "";
}

// An existing plan keeps its own branch.
PlanNames names_there(const PlanFiles& folders, PlanNames names) {
  const auto text = read_plain_file(folders.tasks());
  const auto tasks = parse_json(text.value_or(""), kTasksFile);
  const auto branch = tasks ? find_string(*tasks, "branchName") : std::nullopt;
  if (branch && !branch->empty()) names.branch = fit_to_width(*branch, 100);
  return names;
}

void show_made(const PlanFiles& folders, const MadePlan& made, const Style& style) {
  fmt::print("{}\n", style.bold(fmt::format("A plan in {}", folders.ralph_dir)));
  size_t width = 0;
  for (const auto& [name, what] : kFiles) width = std::max(width, name.size());
  for (const auto& [name, what] : kFiles) {
    const bool kept = std::find(made.kept.begin(), made.kept.end(), name) != made.kept.end();
    fmt::print("  {:<{}}  {}\n", name, width, kept ? "exists and stays as it is" : style.dim(what));
  }
  if (!made.ignored.empty()) fmt::print("  .gitignore now has {}\n", join_for_people(made.ignored));
}

// Lists what `plan run` will require, in the order in which to do it.
void show_plan_steps(const Arguments& arguments, const PlanFiles& folders, const PlanNames& names, bool has_repository,
                     const Style& style) {
  const std::string more = same_folders(arguments);
  const std::string dir = folders.shown(folders.ralph_dir);
  std::vector<std::string> checks;
  for (const GuardrailSuggestion& suggestion : suggest_guardrails(folders.project))
    checks.push_back(suggestion.command);

  std::vector<std::string> steps;
  if (!has_repository)
    steps.push_back(style.cyan("git init") + "  A plan needs commits, and there is no repository yet.");
  // Settings that can't be read don't matter here: the commands that use them report what is wrong.
  const auto loaded = load_settings(folders.project);
  if (loaded && loaded->settings.agent.command.empty())
    steps.push_back(style.cyan(fmt::format("ralph {}init", in_project(arguments))) + "  No agent is set yet.");
  steps.push_back(fmt::format(
      "{}\n     or write {} and {} yourself.",
      style.cyan(fmt::format("ralph plan draft{}", more)) + "  has the agent ask you, and writes the plan with you;",
      join_path(dir, kPrdFile), join_path(dir, kTasksFile)));
  steps.push_back(fmt::format("Put the commands that must pass into verifyCommands of {}{}", join_path(dir, kTasksFile),
                              checks.empty() ? ", such as \"make test\"."
                                             : fmt::format("; this project seems to have: {}.", join(checks, ", "))));
  const std::string setup = suggest_setup(folders.project);
  steps.push_back(fmt::format(
      "To have reviews in a clean checkout of the commit, put its setup{} into .ralph/settings.json:\n     {}",
      setup.empty() ? " (\"\": nothing is needed)" : "",
      style.cyan(fmt::format(R"("plan": {{"cleanRoom": {{"setup": "{}"}}}})", setup))));
  steps.push_back(fmt::format("Commit, then {}  It works on the branch {}, and creates it if it is missing.",
                              style.cyan(fmt::format("ralph plan run{}", more)), names.branch));
  fmt::print("\n{}\n", style.bold("What comes next"));
  for (size_t i = 0; i < steps.size(); ++i) fmt::print("  {}. {}\n", i + 1, steps[i]);
}

Result<int> init_plan(const Arguments& arguments) {
  TRY_VALUE(const PlanFiles folders, plan_folders_to_change(arguments));
  if (arguments.value("name") == "") return fail(ErrorKind::kUsage, "--name is empty; leave it out or give a name");
  const Repository repository(plain_git(folders.project), folders.project);
  // If git fails, `plan run` reports why.
  const bool has_repository = repository.exists().value_or(false);
  const auto branches = repository.branches();
  TRY_VALUE(const PlanNames names, plan_names(folders.project, arguments.value("name").value_or(""),
                                              SystemClock().wall(), branches ? *branches : std::vector<std::string>()));
  if (arguments.has("force")) TRY(expect_no_run(folders.project, "end it before its files are replaced"));
  TRY_VALUE(const PlanCustody custody, take_plan(folders));
  TRY_VALUE(const MadePlan made, make_plan_files(folders.project, folders.ralph_dir, names, arguments.has("force")));
  const bool fresh = std::find(made.kept.begin(), made.kept.end(), kTasksFile) == made.kept.end();
  if (fresh && !custody.authority.empty()) TRY(forget_plan(custody.authority));

  const Style style = style_of_output(Environment::of_this_process());
  show_made(folders, made, style);
  show_plan_steps(arguments, folders, fresh ? names : names_there(folders, names), has_repository, style);
  if (!made.gitignore_note.empty()) {
    std::fflush(stdout);
    fmt::print(stderr, "Note: {}\n", made.gitignore_note);
  }
  return 0;
}

constexpr Option kOptions[] = {
    kProjectDirOption,
    kRalphDirOption,
    {"name", 0, "NAME", "The project's name; its branch is ralph/NAME."},
    {"force", 0, "", "Replace the files of an existing plan."},
};

}  // namespace

const Command kPlanInit = {
    "plan init",
    "Create ralph/ with templates for a plan: PRD, stories, progress, prompt.",
    "Creates ralph/prd.md, tasks.json, progress.txt and prompt.md, and adds the files that runs leave behind to\n"
    ".gitignore. Without --force, only missing files are created.",
    "ralph plan init\n"
    "ralph plan init --name login\n"
    "ralph plan init -d ../shop --name prices",
    kOptions,
    {},
    init_plan,
};

}  // namespace ralph::cli
