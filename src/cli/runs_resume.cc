// ralph runs resume: goes on with a run of any kind, by the command that started it.
#include <array>

#include "cli/accept.h"
#include "cli/limits.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/resume.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    std::array{on_resume({"max-iterations", 'n', "N", "Stop after N iterations, counted from the run's beginning."})},
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

Result<int> run(const Arguments& arguments) {
  TRY_VALUE(const Project project, enter_project());
  const std::string_view wanted = arguments.positionals().empty() ? "" : std::string_view(arguments.positionals()[0]);
  TRY_VALUE(const ResumePoint point, find_resume_point(project.folder, wanted));
  const Command& command = *command_for(point.start.way);
  std::vector<std::string> words = {"--resume=" + point.folder.id};
  for (const Option& option : kOptions) {
    if (const auto value = arguments.value(option.name))
      words.push_back(option.value.empty() ? fmt::format("--{}", option.name)
                                           : fmt::format("--{}={}", option.name, *value));
  }
  TRY_VALUE(const Arguments typed, parse_arguments(command, words));
  return command.run(typed);
}

}  // namespace

const Command kRunsResume = {
    "runs resume",
    "Go on with a run that was interrupted, killed, or stopped at a limit.",
    R"(The run goes on where it was, in the same journal: iteration, feedback, time, tokens and cost count on. An agent that
was cut off is told so, or its session is resumed; work that was done is checked without calling the agent again. The
settings are read anew, and what differs is printed. Limits count from the run's beginning.

Exit codes: as those of the command that started the run, 2 if it can't be resumed.)",
    R"(ralph runs resume
       ralph runs resume 20261115-202233 -n 40
       ralph runs resume --max-cost 10)",
    kOptions,
    kPositionals,
    run,
};

}  // namespace ralph::cli
