// ralph plan draft: starts the agent with instructions for planning, to write a plan together with the user.
#include <array>
#include <unistd.h>

#include "base/template.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cli/accept.h"
#include "cli/output_options.h"
#include "cli/plan_folders.h"
#include "cli/registry.h"
#include "embedded_plan.h"
#include "engine/roster.h"
#include "os/foreground.h"
#include "os/tty.h"
#include "plan/marker.h"
#include "plan/modes.h"
#include "plan/plan_files.h"
#include "plan/scaffold.h"
#include "ui/style.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    kProjectDirOption,
    kRalphDirOption,
    kAgentOption,
    kModelOption,
    kTrustOption,
    Option{"print", 0, "", "Print the instructions for an agent that you start yourself; start nothing."},
};

struct Draft {
  PlanFiles files;
  bool full = true;                       // prd.md has not been written yet
  std::optional<std::string> prd, tasks;  // their content before the draft
};

std::string instructions(const Draft& draft) {
  const std::string folder = draft.files.shown(draft.files.ralph_dir);
  const std::array<std::pair<std::string_view, std::string>, 1> values = {{{"RALPH_DIR", folder}}};
  std::string text = render_template(embedded::draft_md, values);
  text += draft.full
              ? fmt::format("\n{}/prd.md is empty or still the template: begin with full planning (mode 1).\n", folder)
              : fmt::format("\n{}/prd.md has content: derive the tasks from it (mode 2).\n", folder);
  return text;
}

Result<Draft> draft_from(const Arguments& arguments) {
  Draft draft;
  TRY_VALUE(draft.files, plan_folders_to_change(arguments));
  TRY(check_plan_folder(draft.files));
  TRY(expect_no_run(draft.files.project, "draft the next plan when it has ended"));
  draft.prd = read_plain_file(draft.files.prd());
  draft.tasks = read_plain_file(draft.files.tasks());
  draft.full = !draft.prd || is_untouched_prd(*draft.prd);
  return draft;
}

// Checks that the agent wrote a plan that can start.
std::vector<std::string> problems_of(const Draft& draft) {
  const std::string path = draft.files.tasks();
  const auto text = require_plain_file(path, "the agent should have written it");
  if (!text) return {text.error().message};
  if (is_untouched_tasks(*text)) return {fmt::format("{} is still the template", path)};
  const StoryReading reading = read_tasks(*text, path);
  std::vector<std::string> problems;
  for (const PlanProblem& problem : reading.problems) problems.push_back(problem.message);
  if (!reading.tasks) return problems;
  for (const Story& story : reading.tasks->stories) {
    if (story.review == Review{}) continue;
    problems.push_back(
        fmt::format("{}: story {} does not start fresh; it needs passes false, reviewStatus null, reviewCount 0 "
                    "and an empty reviewFeedback",
                    path, story.id));
  }
  const auto prd = read_plain_file(draft.files.prd());
  if (!prd || is_untouched_prd(*prd)) problems.push_back(fmt::format("{} is still the template", draft.files.prd()));
  return problems;
}

int judge_draft(const Draft& draft, int agent_code) {
  const Style style = style_of_output(Environment::of_this_process());
  if (agent_code != 0) fmt::print("{} the agent ended with exit code {}\n", style.yellow(style.note()), agent_code);
  const std::vector<std::string> problems = problems_of(draft);
  for (const std::string& problem : problems) fmt::print("{} {}\n", style.red(style.error()), printable_lines(problem));
  if (!problems.empty()) {
    fmt::print(
        "The plan is not ready; run 'ralph plan draft' again, or fix the files yourself ('ralph plan check').\n");
    return 1;
  }
  const bool wrote =
      read_plain_file(draft.files.prd()) != draft.prd || read_plain_file(draft.files.tasks()) != draft.tasks;
  if (agent_code != 0 && !wrote) {
    fmt::print("It wrote nothing: the plan is as it was, and in order.\n");
    return 1;
  }
  if (!draft.full && read_plain_file(draft.files.prd()) != draft.prd) {
    fmt::print("{} {} was changed; it is your file, so review the changes\n", style.yellow(style.note()),
               draft.files.shown(draft.files.prd()));
  }
  const StoryList tasks = *read_tasks(*read_plain_file(draft.files.tasks()), "tasks.json").tasks;
  fmt::print("{} The plan is in order: {}, about {}\n", style.green(style.ok()),
             count_of(tasks.stories.size(), "story"),
             count_of(static_cast<unsigned>(estimate_iterations(tasks, false)), "iteration"));
  fmt::print("Read it, commit it, then: ralph plan run\n");
  return 0;
}

Result<int> draft(const Arguments& arguments) {
  TRY_VALUE(const Draft draft, draft_from(arguments));
  if (arguments.has("print")) {
    fmt::print("{}", instructions(draft));
    return 0;
  }
  if (!is_terminal(STDIN_FILENO) || !is_terminal(STDOUT_FILENO)) {
    return fail(
        ErrorKind::kUsage,
        "ralph plan draft starts the agent for you to talk to and needs a terminal; --print prints its instructions "
        "for an agent that you start yourself");
  }
  Overrides overrides;
  TRY_VALUE(const std::string here, current_directory());
  TRY(set_agent(arguments, here, overrides));
  TRY(set_model(arguments, overrides));
  TRY_VALUE(const LoadedSettings loaded, load_settings(draft.files.project, overrides));
  TRY_VALUE(const std::vector<Agent> agents,
            make_agents(loaded.settings, Environment::of_this_process(), draft.files.project));
  auto launch = agents.front().interactive(instructions(draft));
  if (!launch)
    return fail(launch.error().kind, "{}; 'ralph plan draft --print' prints what to tell it", launch.error().message);
  TRY_VALUE(const TrustTicket ticket, accept_project({loaded, draft.files.project, arguments.has("trust")}));
  launch->environment.unset("RALPH_TRUST");
  TRY(ticket.begin());
  const auto code = run_in_foreground(*launch);
  ticket.end();
  TRY(code);
  return judge_draft(draft, *code);
}

}  // namespace

const Command kPlanDraft = {
    "plan draft",
    "Write a plan together with the agent: it asks, you answer, ralph checks the result.",
    R"(Starts the agent from the settings in this terminal with instructions for planning. If ralph/prd.md is empty or
still the template, the agent asks questions until the requirements are clear, then writes prd.md and tasks.json. If
prd.md has content, the agent derives tasks.json from it. Afterwards ralph checks the result.

Exit codes: 0 the plan is in order, 1 it is not, or the agent failed without writing one, 2 the agent could not be
started.)",
    "ralph plan draft\n       ralph plan draft --print | less",
    kOptions,
    {},
    draft,
};

}  // namespace ralph::cli
