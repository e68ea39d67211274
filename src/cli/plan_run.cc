// ralph plan run: works through the stories of a plan, each implemented, reviewed afresh, and checked.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/guarded_run.h"
#include "cli/plain_git.h"
#include "cli/plan_folders.h"
#include "cli/questions.h"
#include "cli/registry.h"
#include "cli/roster.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/lock.h"
#include "os/process_tree.h"
#include "os/tty.h"
#include "plan/assignment.h"
#include "plan/engine.h"
#include "plan/project_check.h"
#include "plan/repository.h"
#include "plan/scaffold.h"

namespace ralph::cli {
namespace {

constexpr size_t kTitleWidth = 100;

constexpr std::array kOptions = {
    Option{"max-iterations", 'n', "N", "Stop after N iterations (default 15)."},
    kRalphDirOption,
    kProjectDirOption,
    Option{"model", 'm', "MODEL", "The model of the agent, such as opus."},
    Option{"sandbox", 0, "", "Run the agent in a sandbox; an error where there is none."},
    Option{"no-sandbox", 0, "", "Run the agent directly."},
    Option{"skip-review", 0, "", "No review iterations: a story that passes is done."},
    Option{"review-cap", 0, "N", "Reviews per story (default 5); the last one approves, with a note."},
    Option{"switch", 0, "", "Switch to the plan's branch first, and make it if it is missing."},
    Option{"accept-tasks", 0, "", "After a run that was ended: take tasks.json as it is now, unchecked."},
    Option{"dry-run", 0, "", "Print the next story, mode and prompt; start nothing."},
    Option{"verbose", 'V', "", "Say more, on standard error."},
    Option{"json", 0, "", "Print one JSON record per step instead of lines for people."},
};

// A plan run, as far as it is known before anything starts.
struct PlanRun {
  PlanFiles files;
  LoadedSettings loaded;
  bool verbose = false, json = false;
  std::string authority;
  std::string work_tree;
  TaskFile tasks;
  std::optional<SavedPlan> unfinished;
  PinnedFiles pinned;
  std::map<std::string, std::string> bases;

  bool skip_review() const { return loaded.settings.plan.skip_review; }
  std::int64_t review_cap() const { return loaded.settings.plan.review_cap; }
  bool goes_on_from_copy() const { return unfinished && unfinished->open; }
};

Status set_number(const Arguments& arguments, std::string_view option, std::string_view key, Overrides& overrides) {
  const auto text = arguments.value(option);
  if (!text) return {};
  const auto number = parse_count(*text);
  if (!number) return fail(ErrorKind::kUsage, "--{}: \"{}\" is not a whole number of at least 1", option, *text);
  json::value& plan = overrides.values["plan"];
  if (!plan.is_object()) plan = json::object();
  plan.get_object()[key] = *number;
  overrides.flags[fmt::format("/plan/{}", key)] = fmt::format("--{}", option);
  return {};
}

Result<Overrides> overrides_from(const Arguments& arguments) {
  Overrides overrides;
  TRY(set_number(arguments, "max-iterations", "maximumIterations", overrides));
  TRY(set_number(arguments, "review-cap", "reviewCap", overrides));
  if (arguments.has("skip-review")) {
    json::value& plan = overrides.values["plan"];
    if (!plan.is_object()) plan = json::object();
    plan.get_object()["skipReview"] = true;
    overrides.flags["/plan/skipReview"] = "--skip-review";
  }
  if (const auto model = arguments.value("model")) {
    if (trim(*model).empty()) return fail(ErrorKind::kUsage, "-m, --model is blank; name a model");
    overrides.values["agent"] = json::object{{"model", *model}};
    overrides.flags["/agent/model"] = "--model";
  }
  return overrides;
}

Status check_sandbox(const Arguments& arguments) {
  if (!arguments.has("sandbox")) return {};
  if (arguments.has("no-sandbox"))
    return fail(ErrorKind::kUsage, "--sandbox and --no-sandbox are both given; choose one");
  return fail(
      ErrorKind::kUsage,
      "--sandbox: this version of ralph has no sandbox, and it does not pretend to have one; run it in a container or "
      "a virtual machine of your own, and say --no-sandbox");
}

// Stories that somebody approved while no run watched: allowed, because a person is the authority between runs, and
// said.
void note_edits(const SavedPlan& saved, const TaskList& now) {
  const auto then = read_tasks(saved.tasks, "tasks.json").tasks;
  if (!then) return;
  std::vector<std::string> approved;
  for (const Story& story : now.stories) {
    const Story* was = then->find(story.id);
    if (story.review.passes && (!was || !was->review.passes)) approved.push_back(story.id);
  }
  if (approved.empty()) return;
  const std::string note =
      fmt::format("Note: {} {} marked as passing since the last run ended, not by a review of ralph's.\n",
                  join_for_people(approved), approved.size() == 1 ? "was" : "were");
  static_cast<void>(write_all(STDERR_FILENO, printable_lines(note), "standard error"));
}

// A copy of quite another plan must not be put in the place of this one. What can't be read is for enforcement.
Status expect_same_plan(const PlanRun& run, const TaskList& copy) {
  const auto now = read_tasks(read_plain_file(run.files.tasks()).value_or(""), "").tasks;
  if (!now) return {};
  for (const Story& story : now->stories) {
    if (copy.find(story.id)) return {};
  }
  return fail(
      ErrorKind::kInput,
      "{} has no story of the plan that the last run was killed with (such as {}, in ralph's own copy {}); is it "
      "a new plan? Then say --accept-tasks, and it is taken as it is. If it is not, put the old stories back",
      run.files.tasks(), fit_to_width(copy.stories.front().id, kTitleWidth), run.authority);
}

// Without those of stories that begin anew: what came before is another story's history.
std::map<std::string, std::string> bases_for(const TaskList& now, const SavedPlan& saved) {
  const auto then = read_tasks(saved.tasks, "").tasks;
  std::map<std::string, std::string> bases;
  for (const auto& [id, commit] : saved.bases) {
    const Story* is = now.find(id);
    const Story* was = then ? then->find(id) : nullptr;
    const bool anew = is && is->review == Review{} && was && was->review != Review{};
    if (is && !anew) bases.emplace(id, commit);
  }
  return bases;
}

// The step that the last run did not get to check, unless somebody has decided otherwise since.
bool is_pending(const SavedPlan& saved, const PlanRun& run) {
  const auto left = read_tasks(saved.tasks, "").tasks;
  return saved.pending && left && saved.skip_review == run.skip_review() &&
         still_stands(*saved.pending, *left, run.tasks.tasks);
}

// The plan as this run begins with it: what a killed run kept outside, or what lies there.
Status load_plan_files(PlanRun& run, bool accept) {
  const PlanFiles& files = run.files;
  TRY(check_plan_folder(files));
  constexpr std::string_view kInit = "'ralph plan init' makes one";
  TRY_VALUE(run.authority, authority_path(Environment::of_this_process(), files.ralph_dir));
  TRY_VALUE(auto saved, load_plan(run.authority));
  if (saved && saved->open && !accept) {
    TRY_VALUE(run.tasks, task_file_from(saved->tasks, run.authority));
    TRY(expect_same_plan(run, run.tasks.tasks));
    run.bases = saved->bases;
    run.pinned = saved->pinned;
    run.unfinished = std::move(saved);
    return {};
  }
  TRY_VALUE(std::string text, require_plain_file(files.tasks(), kInit));
  if (!trim(text).empty() && is_untouched_tasks(text)) {
    return fail(ErrorKind::kInput,
                "{} is still the template; 'ralph plan draft' writes a plan with you, or write it yourself",
                files.tasks());
  }
  TRY_VALUE(run.tasks, task_file_from(std::move(text), files.tasks()));
  if (saved) {
    note_edits(*saved, run.tasks.tasks);
    run.bases = bases_for(run.tasks.tasks, *saved);
  }
  TRY_VALUE(std::string prompt, require_plain_file(files.prompt(), kInit));
  if (trim(prompt).empty())
    return fail(ErrorKind::kInput, "{} is blank; 'ralph plan init --force' makes a new one", files.prompt());
  run.pinned = {read_plain_file(files.prd()), std::move(prompt)};
  if (saved && !accept && is_pending(*saved, run)) run.unfinished = std::move(saved);
  return {};
}

std::string where_from(const PlanRun& run) {
  return run.goes_on_from_copy() ? fmt::format("ralph's own copy {}", run.authority) : run.files.tasks();
}

std::string how_to_leave_the_copy(const PlanRun& run) {
  return fmt::format(
      "The last run was killed, and what it left is judged by ralph's own copy first; --accept-tasks takes {} as it is "
      "instead",
      run.files.tasks());
}

Status check_state(const PlanRun& run) {
  if (run.skip_review()) return {};
  // How often a story was reviewed is no fault of a run with another cap.
  const auto problems = judge_invariants(run.tasks.tasks, std::nullopt);
  if (problems.empty()) return {};
  std::vector<std::string> lines;
  for (const PlanProblem& problem : problems) lines.push_back(fmt::format("{}: {}", where_from(run), problem.message));
  if (run.goes_on_from_copy()) lines.push_back(how_to_leave_the_copy(run));
  return tl::unexpected(Error{ErrorKind::kInput, join(lines, "\n")});
}

// ---- the repository

Status switch_branch(const PlanRun& run, const std::string& branch, bool exists) {
  const Git git = plain_git(run.files.project);
  TRY_VALUE(const GitEnd end, exists ? git({"switch", "-q", branch}) : git({"switch", "-q", "-c", branch}));
  if (end.code == 0) return {};
  return fail(ErrorKind::kInput, "cannot switch to the branch {}: {}", branch, first_line(end.errors));
}

// True: the branch was switched, so that all files of the project may be others now.
Result<bool> check_repository(const PlanRun& run, bool may_switch) {
  const Repository repository(plain_git(run.files.project), run.files.project);
  TRY_VALUE(const bool exists, repository.exists());
  if (!exists) {
    return fail(ErrorKind::kInput, "{} is not a git repository, and a plan lives by its commits; run 'git init' there",
                run.files.project);
  }
  TRY_VALUE(const auto branch, repository.branch());
  const std::string& wanted = run.tasks.tasks.branch;
  if (branch && (wanted.empty() || *branch == wanted)) return false;
  if (wanted.empty()) return fail(ErrorKind::kInput, "HEAD is detached, so commits would be lost; switch to a branch");
  TRY_VALUE(const bool there, repository.has_branch(wanted));
  const std::string command = fmt::format("git switch {}{}", there ? "" : "-c ", wanted);
  const std::string problem =
      branch
          ? fmt::format("the branch is {}, but the plan's (branchName in {}) is {}", *branch, where_from(run), wanted)
          : fmt::format("HEAD is detached, so commits would be lost; the plan's branch is {}", wanted);
  bool yes = may_switch;
  if (!yes && is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && !run.json) {
    TerminalQuestions questions;
    questions.say(fmt::format("{}{}.", to_upper(problem.substr(0, 1)), problem.substr(1)));
    TRY_VALUE(yes, ask_yes_or_no(questions, fmt::format("{} now? (y/N): ", command)));
  }
  if (!yes) {
    return fail(ErrorKind::kInput, "{}; run '{}', or say --switch{}", problem, command,
                run.goes_on_from_copy() ? fmt::format(". {}", how_to_leave_the_copy(run)) : "");
  }
  TRY(switch_branch(run, wanted, there));
  return true;
}

// ---- the run

using ModeAgents = std::array<std::vector<Agent>, 3>;  // by Mode

Result<ModeAgents> make_mode_agents(const PlanRun& run, const Environment& environment) {
  const Settings& settings = run.loaded.settings;
  const std::array<std::pair<const std::string*, std::string_view>, 3> named = {{
      {&settings.plan.implement_agent, "plan.agents.implement"},
      {&settings.plan.review_agent, "plan.agents.review"},
      {&settings.plan.review_fix_agent, "plan.agents.reviewFix"},
  }};
  ModeAgents agents;
  for (size_t mode = 0; mode < named.size(); ++mode) {
    TRY_VALUE(agents[mode],
              make_agents_with(*named[mode].first, named[mode].second, settings, environment, run.files.project));
    for (Agent& agent : agents[mode]) agent.skip_permissions();  // a plan is worked on unattended
  }
  return agents;
}

std::string describe_agents(const ModeAgents& agents) {
  std::vector<std::string> parts;
  for (size_t mode = 0; mode < agents.size(); ++mode) {
    const std::string name = agents[mode].front().name();
    if (mode > 0 && name == agents[0].front().name()) continue;
    parts.push_back(mode == 0 ? name : fmt::format("{} for {}", name, to_string(static_cast<Mode>(mode))));
  }
  return join(parts, ", ");
}

Policy plan_policy(const Settings& settings) {
  Policy policy = policy_from(settings);
  policy.plan = policy.promise = true;
  policy.completion_response = "COMPLETE";
  policy.max_iterations = settings.plan.maximum_iterations;
  return policy;
}

Result<Decision> run_loop(const PlanRun& run, RunContext& context, Policy& policy) {
  Environment environment = context.environment;
  environment.set(kPlanDirVariable, run.files.ralph_dir);
  TRY_VALUE(const ModeAgents agents, make_mode_agents(run, environment));
  TRY(note_start(context, {"plan", describe_agents(agents), run.files.shown(run.files.prompt()), {}},
                 run.loaded.effective));
  Marker marker;
  marker.timestamp = to_iso8601(context.clock.wall());
  marker.pid = ::getppid();  // the guardian: the process that the user started and may end
  marker.pid_start = start_time_of(static_cast<int>(marker.pid));
  marker.max_iterations = policy.max_iterations;
  marker.run_id = context.run_id;
  marker.ralph_dir = run.files.ralph_dir;
  marker.skip_review = run.skip_review();
  marker.review_cap = run.review_cap();
  PlanLoop loop{run.loaded.settings, policy, context, run.files, {agents[0], agents[1], agents[2]}};
  loop.skip_review = run.skip_review();
  loop.review_cap = run.review_cap();
  loop.authority = run.authority;
  loop.work_tree = run.work_tree;
  loop.tasks = run.tasks;
  loop.unfinished = run.unfinished;
  loop.pinned = run.pinned;
  loop.bases = run.bases;
  loop.marker = marker;
  return run_plan_loop(std::move(loop));
}

std::string opening(const PlanRun& run) {
  const TaskList& tasks = run.tasks.tasks;
  const size_t done = count_done(tasks, run.skip_review());
  const int needed = estimate_iterations(tasks, run.skip_review());
  const int allowed = run.loaded.settings.plan.maximum_iterations;
  std::string text =
      fmt::format("{}: {} of {} done", tasks.project.empty() ? "The plan" : fit_to_width(tasks.project, kTitleWidth),
                  done, count_of(tasks.stories.size(), "story"));
  if (done < tasks.stories.size()) {
    text += fmt::format("; the rest takes about {}{}", count_of(static_cast<unsigned>(needed), "iteration"),
                        needed > allowed ? fmt::format(", and -n allows {}", allowed) : "");
  }
  text += ".\nThe agent runs directly, with your rights, not in a sandbox.\n";
  if (run.unfinished) {
    text += fmt::format("The last run {} its iteration {} ({} {}); that is checked first (--accept-tasks: not).\n",
                        run.unfinished->open ? "was ended in the middle of" : "stopped before the checks of",
                        run.unfinished->iteration, run.unfinished->mode ? to_string(*run.unfinished->mode) : "?",
                        fit_to_width(run.unfinished->story, kTitleWidth));
  }
  return text;
}

Status refuse_second_run(const std::string& project) {
  TRY_VALUE(const auto marker, live_marker(project));
  if (!marker) return {};
  if (marker->pid <= 0) {
    return fail(ErrorKind::kBusy,
                "{} says that a plan run is working in {}, and not whose it is; remove it if that is not so",
                join_path(project, kMarkerFile), project);
  }
  return fail(ErrorKind::kBusy,
              "another plan run is working in {}: pid {}, since {}; wait for it, or end it with: kill {}", project,
              marker->pid, marker->timestamp, marker->pid);
}

int execute(const PlanRun& run) {
  if (!run.json) static_cast<void>(write_all(STDOUT_FILENO, opening(run), "standard output"));
  const Settings& settings = run.loaded.settings;
  const GuardedRun guarded{run.loaded,
                           run.files.project,
                           run.verbose,
                           run.json,
                           plan_policy(settings),
                           static_cast<int>(settings.guardrails.size() + run.tasks.tasks.verify_commands.size())};
  const int code =
      execute_guarded(guarded, [&](RunContext& context, Policy& policy) { return run_loop(run, context, policy); });
  // In the guardian, which outlives the loop however that ends. A marker that is there now is this run's own, unless
  // another has begun meanwhile.
  const auto lock = Lock::acquire(join_path(run.files.project, ".ralph/lock"));
  if (lock || lock.error().kind != ErrorKind::kBusy) remove_marker(run.files.project);
  return code;
}

int print_dry_run(const PlanRun& run) {
  const auto work = next_work(run.tasks.tasks, run.skip_review());
  std::string out = "Dry run: nothing is started.\n\n" + opening(run);
  if (!work) {
    out += "All stories are done: a run would only make the checks.\n";
  } else {
    const Assignment assignment{work->mode,
                                work->story,
                                &run.tasks.tasks,
                                run.skip_review(),
                                run.review_cap(),
                                1,
                                run.loaded.settings.plan.maximum_iterations,
                                run.files.shown(run.files.ralph_dir),
                                {}};
    out += fmt::format("Next: {} {} ({})\nPrompt:\n\n{}\n", to_string(work->mode),
                       fit_to_width(work->story->id, kTitleWidth), fit_to_width(work->story->title, kTitleWidth),
                       plan_prompt(run.pinned.prompt.value_or(""), assignment));
  }
  const Redactor redactor(Environment::of_this_process().as_lines(), secret_candidates(run.loaded.settings));
  fmt::print("{}", printable_lines(redactor.redact(out)));
  return 0;
}

Result<int> run_with(const Arguments& arguments, bool may_switch) {
  TRY(check_sandbox(arguments));
  PlanRun run;
  TRY_VALUE(run.files, plan_folders(arguments));
  run.verbose = arguments.has("verbose");
  run.json = arguments.has("json");
  TRY_VALUE(const Overrides overrides, overrides_from(arguments));
  TRY(check_plan_folder(run.files));
  TRY_VALUE(run.loaded, load_settings(run.files.project, overrides));
  TRY(refuse_second_run(run.files.project));
  TRY(load_plan_files(run, arguments.has("accept-tasks")));
  TRY(check_state(run));
  TRY(make_mode_agents(run, Environment::of_this_process()));
  if (arguments.has("dry-run")) return print_dry_run(run);
  TRY_VALUE(const bool switched, check_repository(run, may_switch));
  if (switched) return run_with(arguments, false);  // the branch has its own plan, prompt and settings
  TRY_VALUE(run.work_tree, Repository(plain_git(run.files.project), run.files.project).work_tree());
  TRY(make_room_for_plan(run.authority));
  return execute(run);
}

}  // namespace

const Command kPlanRun = {
    "plan run",
    "Work through the stories of a plan: implement, review afresh, fix, until all are approved.",
    R"(Each iteration takes one story of ralph/tasks.json in one mode, computed by ralph: fixes first, then reviews, then
new work. The agent starts afresh every time. After each iteration ralph itself runs verifyCommands and the guardrails,
compares tasks.json with its own copy, and takes back what the mode does not allow: only a review can approve a story.

Exit codes: 0 all stories are done, 1 a limit ended it, 2 something is wrong with the plan or the system, 130 interrupted.)",
    R"(ralph plan run
       ralph plan run -n 40 --review-cap 3
       ralph plan run --dry-run)",
    kOptions,
    {},
    [](const Arguments& arguments) {
      const Result<int> code = run_with(arguments, arguments.has("switch"));
      return code ? *code : report(code.error());
    },
};

}  // namespace ralph::cli
