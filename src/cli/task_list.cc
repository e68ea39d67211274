// ralph task list and ralph task status: show the state of tasks.
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
    Option{"root", 0, "DIR", "The folder that holds all projects and tasks."},
    Option{"project", 0, "P", "Only tasks of this project."},
    Option{"json", 0, "", "Print a JSON array."},
};
constexpr auto kStatusOptions = joined(kTaskOptions, std::array{Option{"json", 0, "", "Print JSON."}});

// One line, without the reason why the task ended.
std::string summary_of(const TaskState& state) {
  std::string text = fmt::format("{:<10} {}/{}  {}", to_string(state.status), state.place.project, state.place.task,
                                 count_of(state.attempts.size(), "attempt"));
  if (!state.children.empty()) text += fmt::format(", {}", count_of(state.children.size(), "child run"));
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
  if (states.empty()) fmt::print("There are no tasks in {} yet. 'ralph task run' creates one.\n", root.root);
  const Style style = style_of_output(Environment::of_this_process());
  constexpr size_t kWidest = 400;  // for a line that goes to a file
  for (const TaskState& state : states) {
    const std::string line = summary_of(state) + (state.reason.empty() ? "" : "  " + state.reason);
    fmt::print("{}\n", fit_to_width(line, style.terminal ? style.width : kWidest));
  }
  return 0;
}

void print_attempt(const RunInfo& info, const Style& style, size_t indent) {
  const std::string code = info.exit_code < 0 ? "exit code unknown" : fmt::format("exit code {}", info.exit_code);
  // If an attempt was killed with its supervisor before it wrote anything, nobody knows how long it lived.
  const bool unknown = info.exit_code < 0 && info.end_time && *info.end_time <= info.start_time;
  const std::string end = unknown         ? code
                          : info.end_time ? human_duration(*info.end_time - info.start_time) + ", " + code
                          : info.pid > 0  ? fmt::format("pid {}", info.pid)
                                          : std::string("starting");
  std::string line = fmt::format("{}{}  {:<9}  {}", std::string(indent, ' '), info.run_id, to_string(info.status), end);
  if (const std::string why = info.error_summary == code ? "" : fit_to_width(info.error_summary, 400); !why.empty()) {
    // On a terminal that is too narrow for both, the reason gets its own line.
    const bool fits = !style.terminal || display_width(line) + 2 + display_width(why) <= style.width;
    line += fits
                ? "  " + style.dim(why)
                : "\n" + std::string(indent + 2, ' ') + style.dim(wrap_words(why, style.width, indent + 2, indent + 2));
  }
  fmt::print("{}\n", line);
}

// An attempt or a child run, with the child runs that it asked for below it.
void print_with_children(const RunInfo& info, const TaskState& state, const Style& style, size_t depth) {
  print_attempt(info, style, 2 + 2 * depth);
  for (const RunInfo& child : state.children)
    if (child.parent_run_id == info.run_id) print_with_children(child, state, style, depth + 1);
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
  if (const std::string why = fit_to_width(state.reason, 1000); !why.empty())
    fmt::print("  why       {}\n", style.terminal ? wrap_words(why, style.width, 12, 12) : why);
  fmt::print("  folder    {}\n", fit_to_width(place.folder(), 1000));
  if (!state.run_id.empty()) fmt::print("  run       {}\n", state.run_id);
  if (state.supervisor) fmt::print("  pid       {}, since {}\n", state.supervisor->pid, state.supervisor->since);
  if (!state.depends.empty())
    fmt::print("  {} {}\n", state.status == TaskStatus::kCompleted ? "needed   " : "waits for",
               join_for_people(state.depends));
  if (state.stop_requested) fmt::print("  STOP-REQUESTED exists\n");
  for (const RunInfo& info : state.attempts) print_with_children(info, state, style, 0);
  return 0;
}

}  // namespace

const Command kTaskList = {
    "task list",
    "List the tasks in a root folder and their states.",
    "A task is running, completed (DONE exists), stopped (by a person, or waiting for one), failed, or new. Stale\n"
    "states left by a killed supervisor are corrected first.",
    "ralph task list --root tasks\n"
    "ralph task list --root tasks --project shop --json",
    kListOptions,
    {},
    list,
};

const Command kTaskStatus = {
    "task status",
    "Show one task: its supervisor, its attempts and its child runs.",
    "The state is correct even after a crash: pid and start time show whether the process of an attempt is gone.",
    "ralph task status --root tasks --project shop --task cart\n"
    "ralph task status --json",
    kStatusOptions,
    {},
    status,
};

}  // namespace ralph::cli
