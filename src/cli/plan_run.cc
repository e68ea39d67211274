// ralph plan run: works through the stories of a plan; each is implemented, reviewed in a fresh context, and checked.
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/dry_run.h"
#include "cli/limits.h"
#include "cli/note_start.h"
#include "cli/plan_folders.h"
#include "cli/questions.h"
#include "cli/registry.h"
#include "cli/run_hooks.h"
#include "cli/tell.h"
#include "engine/engine.h"
#include "engine/roster.h"
#include "git/git.h"
#include "git/repository.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/process_tree.h"
#include "os/tty.h"
#include "plan/clean_room.h"
#include "plan/plan_way.h"
#include "plan/project_check.h"
#include "plan/start.h"

namespace ralph::cli {
namespace {

constexpr size_t kTitleWidth = 100;

constexpr auto kOptions = joined(
    std::array{on_resume({"max-iterations", 'n', "N", "Stop after N iterations (default 15)."})}, kLimitOptions,
    kSandboxOptions,
    std::array{
        kResumeOption,
        kTrustOption,
        kRalphDirOption,
        kProjectDirOption,
        kAgentOption,
        kModelOption,
        Option{"skip-review", 0, "", "No review iterations: a story that passes is done."},
        Option{"review-cap", 0, "N", "At most N reviews per story (default 5); the last one approves it, with a note."},
        on_resume({"switch", 0, "", "Switch to the plan's branch despite uncommitted changes, if git can."}),
        on_resume({"no-switch", 0, "", "Work on the current branch, even if the plan names another."}),
        Option{"accept-tasks", 0, "",
               "Accept tasks.json as it is, unchecked: after a killed run, or with approvals of your own."},
        Option{"dry-run", 0, "", "Print the next story, command line, prompt and policy; start nothing."},
        kVerboseOption,
        kRecordsOption,
    });

Result<Overrides> plan_overrides(const Arguments& arguments, const std::string& typed_in) {
  Overrides overrides;
  TRY(set_count(arguments, "max-iterations", "/plan/maximumIterations", overrides));
  TRY(set_count(arguments, "review-cap", "/plan/reviewCap", overrides));
  TRY(set_limits(arguments, overrides));
  TRY(set_sandbox(arguments, overrides));
  if (arguments.has("skip-review")) overrides.set("/plan/skipReview", true, "--skip-review");
  TRY(set_agent(arguments, typed_in, overrides));
  TRY(set_model(arguments, overrides));
  return overrides;
}

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
    for (Agent& agent : agents[mode]) {
      agent.skip_permissions();  // a plan runs unattended
      give_hooks(agent);
    }
  }
  return agents;
}

// A plan runs unattended, so a sandbox is looked for unless the settings say otherwise. Hooks inside it read ralph's
// own copy of the plan.
Result<Protection> protection_for(const PlanRun& run, const ModeAgents& agents) {
  const Environment environment = Environment::of_this_process();
  std::vector<Agent> all;
  for (const std::vector<Agent>& mode : agents) all.insert(all.end(), mode.begin(), mode.end());
  return choose_protection(
      {run.loaded.settings, run.files.project, environment, all, run.tasks.tasks.verify_commands, {run.authority}},
      true);
}

// Why reviews can't work in a clean checkout; empty: they can.
Result<std::string> room_obstacle(const PlanRun& run, const Protection& protection) {
  TRY_VALUE(std::string obstacle, clean_room_obstacle(run));
  if (!protection.in_machine || !obstacle.empty()) return obstacle;
  if (run.loaded.settings.plan.clean_room.mode == "on")
    return fail(ErrorKind::kInput,
                "plan.cleanRoom.mode is \"on\", but a Docker Sandbox has only the project; set sandbox.backend to "
                "\"bubblewrap\"");
  return std::string("a Docker Sandbox has only the project");
}

std::string hooks_of(const ModeAgents& agents) {
  std::vector<Agent> with, without;
  for (const std::vector<Agent>& mode : agents) {
    for (const Agent& agent : mode) (agent.has_hooks() ? with : without).push_back(agent);
  }
  return describe_hooks(with, without);
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

Marker marker_for(const PlanRun& plan, const Run& run) {
  Marker marker;
  marker.timestamp = to_iso8601(run.clock.wall());
  marker.pid = guardian_pid();  // the process that the user started and may end
  marker.pid_start = start_time_of(static_cast<int>(marker.pid));
  marker.max_iterations = run.policy.max_iterations;
  marker.run_id = run.id;
  marker.ralph_dir = plan.files.ralph_dir;
  marker.skip_review = plan.skip_review();
  marker.review_cap = plan.review_cap();
  return marker;
}

Result<Decision> drive_plan(const PlanRun& plan, const RunSetup& setup, Run& run) {
  Environment environment = run.environment;
  environment.set(kPlanDirVariable, plan.files.ralph_dir);
  TRY_VALUE(const ModeAgents agents, make_mode_agents(plan, environment));
  std::vector<Agent> all;
  for (const std::vector<Agent>& mode : agents) all.insert(all.end(), mode.begin(), mode.end());
  TRY(note_start(run, setup,
                 {WayIn::kPlan, describe_agents(agents), plan.files.shown(plan.files.prompt()),
                  plan.pinned.prompt.value_or(""), all}));
  TRY(write_reopened(plan));
  PlanWay way(run, plan, {agents[0], agents[1], agents[2]}, marker_for(plan, run));
  return drive(run, way);
}

// The source of a setting: "--skip-review", ".ralph/settings.json".
std::string origin_of(const LoadedSettings& loaded, std::string_view pointer) {
  for (const Origin& origin : loaded.origins) {
    if (origin.pointer == pointer) return origin.source;
  }
  return "by default";
}

std::string opening(const PlanRun& run, const Protection& protection, const ModeAgents& agents) {
  const StoryList& tasks = run.tasks.tasks;
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
  text += ".\n" + opening_line(protection) + hooks_of(agents) + in_place_note(run);
  if (run.skip_review())
    text += fmt::format("No reviews ({}): a story that passes is done.\n", origin_of(run.loaded, "/plan/skipReview"));
  if (run.unfinished) {
    text += fmt::format("The last run {} its iteration {} ({} {}); that is checked first, unless --accept-tasks.\n",
                        run.unfinished->open ? "was ended in the middle of" : "stopped before the checks of",
                        run.unfinished->iteration, run.unfinished->mode ? to_string(*run.unfinished->mode) : "?",
                        fit_to_width(run.unfinished->story, kTitleWidth));
  }
  return text;
}

Status refuse_second_run(const std::string& project) {
  TRY_VALUE(const auto marker, live_marker(project));
  if (!marker) return {};
  return fail(ErrorKind::kBusy,
              "another plan run is working in {}: pid {}, since {}; wait for it, or end it with: kill {}", project,
              marker->pid, marker->timestamp, marker->pid);
}

Result<int> execute(const PlanRun& run, const ModeAgents& agents, RunSetup& setup) {
  if (!run.json && !setup.resume)
    static_cast<void>(write_all(STDOUT_FILENO, opening(run, setup.protection, agents), "standard output"));
  const Settings& settings = run.loaded.settings;
  setup.loaded = run.loaded;
  setup.policy = plan_policy(settings);
  setup.checks = static_cast<int>(settings.guardrails.size() + run.tasks.tasks.verify_commands.size());
  if (setup.resume) TRY(check_limits(*setup.resume, setup.policy));
  const Result<int> code = start_run(setup, [&](Run& started, RunMeans) { return drive_plan(run, setup, started); });
  // This runs in the guardian, which always outlives the loop. The marker is this run's own, unless another run has
  // begun in the meantime.
  const auto lock = Lock::acquire(join_path(run.files.project, ".ralph/lock"));
  if (lock || lock.error().kind != ErrorKind::kBusy) remove_marker(run.files.project);
  return code;
}

Result<int> show_dry_run(const PlanRun& run, const Protection& protection, const ModeAgents& agents,
                         BranchChoice choice) {
  const StoryList& tasks = run.tasks.tasks;
  const auto work = next_work(tasks, run.skip_review());
  if (!work) {
    if (run.json) {
      fmt::print("{}", to_pretty_json(json::object{{"nextStory", nullptr}, {"settings", run.loaded.effective}}));
    } else {
      fmt::print("Dry run: nothing is started.\n\n{}No story is left: a run would only run the checks.\n",
                 printable_lines(opening(run, protection, agents) + branch_note(run, choice)));
    }
    return 0;
  }
  const int most = run.loaded.settings.plan.maximum_iterations;
  DryRun dry{run.loaded, protection, run.files.project, agents[static_cast<size_t>(work->mode)], {}, {}, {}};
  dry.prompt = plan_prompt(run.pinned.prompt.value_or(""), assignment_for(run, *work, 1, most));
  dry.prompt_source = run.files.shown(run.files.prompt());
  dry.iterations = fmt::format("up to {}, complete when every story {} and all checks pass", most,
                               run.skip_review() ? "passes" : "is approved by a review");
  dry.more_checks = tasks.verify_commands;
  dry.opening = printable_lines(opening(run, protection, agents) + branch_note(run, choice)) +
                fmt::format("Next: {} {} ({})\n\n", to_string(work->mode), fit_to_width(work->story->id, kTitleWidth),
                            fit_to_width(work->story->title, kTitleWidth));
  dry.facts = {{"nextMode", to_string(work->mode)}, {"nextStory", to_json_string(work->story->id)}};
  return print_dry_run(dry, run.json);
}

// If nobody is there to answer, --switch has to request such a switch.
Result<bool> ask(const BranchFault& fault, const PlanRun& run) {
  if (run.json || !is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO)) return false;
  TerminalQuestions questions;
  questions.say(
      fmt::format("{}{}; {}.", to_upper(fault.problem.substr(0, 1)), fault.problem.substr(1), fault.obstacle));
  return ask_yes_or_no(questions, fmt::format("{} now? (y/N): ", fault.command));
}

// The plan must still be as the run left it.
Status check_same_run(const PlanRun& run, const ResumePoint& point) {
  TRY_VALUE(const auto saved, load_plan(run.authority));
  if (!saved || saved->run_id.empty() || saved->run_id == point.folder.id) return {};
  return fail(ErrorKind::kUsage,
              "run {} can't be resumed: run {} has worked on the plan since; 'ralph plan run' continues the plan",
              point.folder.id, saved->run_id);
}

void say_note(std::string_view note) {
  tell(fmt::format("Note: {}.\n", note));
}

// Approvals that ralph has no record of are a person's, or forged. Somebody has to accept them.
Status accept_approvals(const PlanRun& run, bool accepted) {
  if (run.unknown_approvals.empty()) return {};
  const std::string which =
      fmt::format("approved in {}, but neither by ralph's own copy of the plan nor by a run's journal: {}",
                  run.files.tasks(), join_for_people(run.unknown_approvals));
  if (!accepted) {
    if (run.json || !is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO)) {
      return fail(ErrorKind::kInput, "{}; check them, then add --accept-tasks, or undo the approvals", which);
    }
    TerminalQuestions questions;
    questions.say(which);
    TRY_VALUE(const bool yes, ask_yes_or_no(questions, "Accept these approvals as they are? (y/N): "));
    if (!yes) return fail(ErrorKind::kUsage, "the approvals were not accepted; nothing was started");
  }
  return keep_approvals(run);
}

Result<BranchChoice> branch_choice(const Arguments& arguments) {
  if (arguments.has("switch") && arguments.has("no-switch"))
    return fail(ErrorKind::kUsage, "--switch and --no-switch are both given; choose one");
  return arguments.has("switch")      ? BranchChoice::kSwitch
         : arguments.has("no-switch") ? BranchChoice::kStay
                                      : BranchChoice::kAuto;
}

Result<int> run_with(const Arguments& typed, bool has_switched) {
  PlanRun run;
  TRY_VALUE(run.files, has_switched ? plan_folders(typed) : plan_folders_to_change(typed));
  TRY_VALUE(const auto resumption, resumption_from(kPlanRun, WayIn::kPlan, typed, run.files.project));
  const Arguments& arguments = resumption ? resumption->arguments : typed;
  TRY_VALUE(BranchChoice choice, branch_choice(arguments));
  if (has_switched && choice != BranchChoice::kStay) choice = BranchChoice::kNever;
  if (resumption) {
    TRY_VALUE(run.files, plan_folders(arguments));
  }
  run.verbose = typed.has("verbose");
  run.json = typed.has("json");
  TRY_VALUE(const std::string here, current_directory());
  TRY_VALUE(const Overrides overrides, plan_overrides(arguments, resumption ? resumption->point.start.folder : here));
  TRY(check_plan_folder(run.files));
  TRY_VALUE(run.loaded, load_settings(run.files.project, overrides));
  if (resumption) show_changes(*resumption, run.loaded);
  TRY(refuse_second_run(run.files.project));
  TRY(load_plan_files(run, arguments.has("accept-tasks") && !resumption));
  if (resumption) TRY(check_same_run(run, resumption->point));
  for (const std::string& note : run.notes) say_note(note);
  TRY(check_state(run));
  if (!arguments.has("dry-run")) TRY(accept_approvals(run, arguments.has("accept-tasks") && !resumption));
  TRY_VALUE(const ModeAgents agents, make_mode_agents(run, Environment::of_this_process()));
  RunSetup setup = setup_from(typed, run.files.project, resumption);
  TRY_VALUE(setup.protection, protection_for(run, agents));
  const Repository repository(plain_git(run.files.project), run.files.project);
  if (repository.exists().value_or(false)) {
    TRY_VALUE(run.work_tree, repository.work_tree());
  }
  if (arguments.has("dry-run")) {
    TRY_VALUE(run.in_place, room_obstacle(run, setup.protection));
    print_notes(run.loaded);
    return show_dry_run(run, setup.protection, agents, choice);
  }
  TRY_VALUE(const BranchChange branch,
            check_branch(run, choice, [&](const BranchFault& fault) { return ask(fault, run); }));
  if (!branch.note.empty()) say_note(branch.note);
  if (branch.switched) {  // the branch has its own plan, prompt and settings
    Result<int> code = run_with(typed, true);
    if (!code) code.error().message += fmt::format(" (the branch was switched to {})", run.tasks.tasks.branch);
    return code;
  }
  TRY_VALUE(setup.ticket, accept_project({run.loaded, run.files.project, typed.has("trust"), run.json,
                                          resumption.has_value(), &run.tasks.tasks.verify_commands}));
  TRY_VALUE(run.in_place, room_obstacle(run, setup.protection));
  TRY(make_copy_folder(run.authority));
  return execute(run, agents, setup);
}

}  // namespace

const Command kPlanRun = {
    "plan run",
    "Work through the stories of a plan: implement, review, fix, until all are approved.",
    R"(Each iteration works on one story of ralph/tasks.json in one mode, both chosen by ralph: fixes first, then
reviews, then new work. Every iteration starts a fresh agent. After each iteration, ralph itself runs verifyCommands and
the guardrails, compares tasks.json with its own copy, and reverts changes that the mode does not allow: only a review
can approve a story.

Exit codes: 0 all stories are done, 1 stopped by a limit, 2 a problem with the plan or the system, 130 interrupted.)",
    R"(ralph plan run
       ralph plan run -n 40 --review-cap 3
       ralph plan run --dry-run)",
    kOptions,
    {},
    [](const Arguments& arguments) { return run_with(arguments, false); },
};

}  // namespace ralph::cli
