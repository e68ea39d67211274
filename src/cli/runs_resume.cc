// ralph runs resume: resumes a run of any kind, with the command that started it.
#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>

#include "cli/accept.h"
#include "cli/any_run.h"
#include "cli/limits.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/resume.h"
#include "journal/run_folder.h"
#include "os/files.h"
#include "task/task_state.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    std::array{on_resume({"max-iterations", 'n', "N", "Stop after N iterations, counted from the start of the run."})},
    kLimitOptions,
    std::array{
        kTrustOption,
        kVerboseOption,
        kRecordsOption,
    });
constexpr std::array kPositionals = {
    Positional{"RUN", "An id or the beginning of one (default: the newest run that can be resumed)."}};

const Command* command_for(WayIn way) {
  switch (way) {
    case WayIn::kPrompt:
      return &kRun;
    case WayIn::kPlan:
      return &kPlanRun;
    case WayIn::kOutside:
      return &kLoopRun;
    default:
      return nullptr;
  }
}

std::vector<std::string> typed_words(const Arguments& arguments) {
  std::vector<std::string> words;
  for (const Option& option : kOptions) {
    if (const auto value = arguments.value(option.name))
      words.push_back(option.value.empty() ? fmt::format("--{}", option.name)
                                           : fmt::format("--{}={}", option.name, *value));
  }
  return words;
}

// A task is continued with the command that was last typed for it.
Result<int> resume_task(const TaskPlace& place, const Arguments& arguments) {
  if (arguments.has("max-iterations"))
    return fail(ErrorKind::kUsage,
                "-n, --max-iterations can't be given for a task: each command has its own number of attempts; type "
                "'ralph task run' with --max-restarts");
  TRY_VALUE(const ResumePoint point, own_resume_point(place.folder(), {run_id_of(place), place.folder()}));
  if (point.masked)
    return fail(
        ErrorKind::kUsage,
        "run {} was started with a secret among its arguments, which is not kept; type its 'ralph task run' again",
        point.folder.id);
  if (::chdir(point.typed_in.c_str()) != 0)
    return fail(ErrorKind::kUsage, "run {} was started in {}: {}", point.folder.id, point.typed_in, errno_text(errno));
  const std::vector<std::string> more = typed_words(arguments);
  std::vector<std::string> words = point.arguments.back();
  words.insert(std::ranges::find(words, "--"), more.begin(), more.end());
  TRY_VALUE(const Arguments typed, parse_arguments(kTaskRun, words));
  const auto root = typed.value("root"), project = typed.value("project"), task = typed.value("task");
  const bool same = root && project == place.project && task == place.task &&
                    real_path(absolute_path(*root, point.typed_in)) == real_path(place.root);
  if (!same)
    return fail(ErrorKind::kUsage, "run {} can't be resumed: its journal names another task than that of its folder {}",
                point.folder.id, place.folder());
  return kTaskRun.run(typed);
}

// The task whose run is the newest that can be resumed here; nullopt if that run is not a task's.
std::optional<TaskPlace> newest_task_here(const std::string& project) {
  const auto here = runs_here(project);
  for (const AnyRun& run : here ? *here : std::vector<AnyRun>{}) {
    if (run.task && run.is_alive()) continue;  // it is still running
    if (own_resume_point(run.keeper(), run.folder)) return run.task;
  }
  return std::nullopt;
}

Result<int> resume_run(const Arguments& arguments) {
  TRY_VALUE(const Project project, enter_project());
  const std::string_view wanted = arguments.positionals().empty() ? "" : std::string_view(arguments.positionals()[0]);
  if (wanted.empty()) {
    if (const auto task = newest_task_here(project.folder)) return resume_task(*task, arguments);
  } else if (wanted != "last" && !find_run(project.folder, wanted)) {
    TRY_VALUE(const AnyRun found, find_any_run(project.folder, wanted));
    if (found.task) return resume_task(*found.task, arguments);
  }
  TRY_VALUE(const ResumePoint point, find_resume_point(project.folder, wanted));
  const Command& command = *command_for(point.start.way);
  std::vector<std::string> words = typed_words(arguments);
  words.insert(words.begin(), "--resume=" + point.folder.id);
  TRY_VALUE(const Arguments typed, parse_arguments(command, words));
  return command.run(typed);
}

}  // namespace

const Command kRunsResume = {
    "runs resume",
    "Continue a run that was interrupted, killed, or stopped at a limit.",
    R"(The run continues where it left off, in the same journal: iterations, feedback, time, tokens and cost carry over.
An agent that was cut off is told so, or its session is resumed; finished work is checked without calling the agent
again. The settings are reread, and changes are printed. Limits count from the start of the run.

A supervised task continues with the `ralph task run` command that was last typed for it, and with as many attempts as
that allows. The id of its run identifies it, wherever its root is.

Exit codes: those of the command that started the run; 2 if it can't be resumed.)",
    R"(ralph runs resume
       ralph runs resume 20261115-202233 -n 40
       ralph runs resume --max-cost 10)",
    kOptions,
    kPositionals,
    resume_run,
};

}  // namespace ralph::cli
