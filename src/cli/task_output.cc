// ralph task output: prints the output of a task's attempt.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "cli/file_tail.h"
#include "cli/registry.h"
#include "cli/task_options.h"
#include "os/file_watch.h"
#include "task/run_info.h"

namespace ralph::cli {
namespace {

constexpr auto kOptions = joined(
    kTaskOptions, std::array{
                      Option{"attempt", 0, "ID",
                             "The id of an attempt or a child run, or its beginning (default: the last attempt)."},
                      Option{.name = "file",
                             .letter = 0,
                             .value = "WHICH",
                             .help = "Which file of the attempt to print (default output).",
                             .choices = "output|stdout|stderr|prompt"},
                      Option{"follow", 'f', "", "Keep printing until the attempt ends."},
                  });

std::string_view name_of(std::string_view which) {
  if (which == "stdout") return "agent-stdout.txt";
  if (which == "stderr") return "agent-stderr.txt";
  return which == "prompt" ? "prompt.md" : "output.md";
}

Result<RunInfo> attempt_from(const Arguments& arguments, const TaskPlace& place) {
  const std::vector<RunInfo> infos = run_infos_of(place);
  if (infos.empty()) return fail(ErrorKind::kUsage, "task {}/{} has no attempt yet", place.project, place.task);
  const auto wanted = arguments.value("attempt");
  std::vector<RunInfo> fitting;
  for (const RunInfo& info : infos) {
    const bool is_child = std::ranges::find(infos, info.parent_run_id, &RunInfo::run_id) != infos.end();
    if (wanted ? info.run_id.starts_with(*wanted) : !is_child) fitting.push_back(info);
  }
  if (wanted && fitting.size() != 1) {
    std::vector<std::string> ids;
    for (const RunInfo& info : infos) ids.push_back(info.run_id);
    return fail(ErrorKind::kUsage, "--attempt: \"{}\" names {}; there are {}", *wanted,
                fitting.empty() ? "none" : "several", join_for_people(ids));
  }
  return fitting.empty() ? infos.back() : fitting.back();
}

Result<int> output(const Arguments& arguments) {
  TRY_VALUE(const TaskPlace place, task_from(arguments));
  TRY(correct_dead_attempts(place));
  TRY_VALUE(const RunInfo info, attempt_from(arguments, place));
  FileTail tail(info.file(name_of(arguments.value("file").value_or("output"))), STDOUT_FILENO);
  if (!arguments.has("follow")) {
    TRY(tail.print_new());
    return 0;
  }
  FileWatch watch;
  TRY(watch.add(tail.path(), FileWatch::Growth::kWatched));
  TRY(watch.add(info.file(kRunInfoFile)));
  for (;;) {
    // Read before the output, so that everything printed before the end is included.
    const auto now = read_run_info(info.folder);
    const bool ended = !now || now->status != AttemptStatus::kRunning;
    TRY(tail.print_new());
    if (ended) return 0;
    watch.wait(std::nullopt);
  }
}

}  // namespace

const Command kTaskOutput = {
    "task output",
    "Print the output of one of a task's attempts.",
    "Prints output.md, which holds the agent's words, or another file of the attempt with --file. --follow prints the\n"
    "file as it is written.",
    "ralph task output --root tasks --project shop --task cart --follow\n"
    "ralph task output --root tasks --project shop --task cart --file stderr",
    kOptions,
    {},
    output,
};

}  // namespace ralph::cli
