// ralph task list and ralph task status: how tasks stand.
#include <array>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/output_options.h"
#include "cli/registry.h"
#include "cli/task_options.h"
#include "task/task_state.h"

namespace ralph::cli {
namespace {

constexpr std::array kListOptions = {
    Option{"root", 0, "DIR", "The folder of all projects and tasks."},
    Option{"project", 0, "P", "Only this project's."},
    Option{"json", 0, "", "Print a JSON array."},
};
constexpr auto kStatusOptions = joined(kTaskOptions, std::array{Option{"json", 0, "", "Print JSON."}});

std::string summary_of(const TaskState& state) {
  std::string text = fmt::format("{:<10} {}/{}  {}", state.status, state.place.project, state.place.task,
                                 count_of(state.attempts.size(), "attempt"));
  if (!state.children.empty()) text += fmt::format(", {}", count_of(state.children.size(), "child run"));
  if (!state.reason.empty()) text += "  " + fit_to_width(state.reason, 200);
  return text;
}

Result<int> list(const Arguments& arguments) {
  TRY_VALUE(const TaskRoot root, task_root_from(arguments));
  std::vector<TaskState> states;
  for (const TaskPlace& place : tasks_in(root.root, root.project)) {
    TRY_VALUE(TaskState state, state_of(place));
    states.push_back(std::move(state));
  }
  if (arguments.has("json")) {
    json::array all;
    for (const TaskState& state : states) all.emplace_back(to_json(state));
    fmt::print("{}", to_pretty_json(all));
    return 0;
  }
  if (states.empty()) fmt::print("There are no tasks in {} yet. 'ralph task run' makes one.\n", root.root);
  for (const TaskState& state : states) fmt::print("{}\n", summary_of(state));
  return 0;
}

void print_attempt(const RunInfo& info, const Style& style, std::string_view indent) {
  const std::string end =
      info.end_time  ? fmt::format("{}, exit code {}", human_duration(*info.end_time - info.start_time), info.exit_code)
      : info.pid > 0 ? fmt::format("pid {}", info.pid)
                     : std::string("starting");
  fmt::print("{}{}  {:<9}  {}  {}\n", indent, info.run_id, to_string(info.status), end,
             style.dim(fit_to_width(info.error_summary, 160)));
}

Result<int> status(const Arguments& arguments) {
  TRY_VALUE(const TaskPlace place, task_from(arguments));
  TRY_VALUE(const TaskState state, state_of(place));
  if (arguments.has("json")) {
    fmt::print("{}", to_pretty_json(to_json(state)));
    return 0;
  }
  const Style style = style_of_output(Environment::of_this_process());
  fmt::print("{}\n", summary_of(state));
  fmt::print("  folder    {}\n", fit_to_width(place.folder(), 1000));
  if (!state.run_id.empty()) fmt::print("  run       {}\n", state.run_id);
  if (state.supervisor) fmt::print("  pid       {}, since {}\n", state.supervisor->pid, state.supervisor->since);
  if (!state.depends.empty()) fmt::print("  waits for {}\n", join_for_people(state.depends));
  if (state.stop_requested) fmt::print("  STOP-REQUESTED is there\n");
  for (const RunInfo& info : state.attempts) print_attempt(info, style, "  ");
  for (const RunInfo& info : state.children) print_attempt(info, style, "    child of " + info.parent_run_id + ": ");
  return 0;
}

}  // namespace

const Command kTaskList = {
    "task list",
    "List the tasks below a root and how they stand.",
    "A task is running, completed (DONE is there), stopped (by a person, or it waits for one), failed, or new. What a\n"
    "killed supervisor left is corrected first.",
    "ralph task list --root tasks\n"
    "ralph task list --root tasks --project shop --json",
    kListOptions,
    {},
    list,
};

const Command kTaskStatus = {
    "task status",
    "Show one task: its supervisor, its attempts and its child runs.",
    "The truth also after a crash: an attempt whose process is gone is recognised by its pid and start time.",
    "ralph task status --root tasks --project shop --task cart\n"
    "ralph task status --json",
    kStatusOptions,
    {},
    status,
};

}  // namespace ralph::cli
