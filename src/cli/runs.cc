// ralph runs list: lists every run of this project. ralph runs show: shows one run, from its journal.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <unistd.h>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/any_run.h"
#include "cli/output_options.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "cli/resume.h"
#include "journal/reader.h"
#include "journal/run_folder.h"
#include "journal/writer.h"
#include "json/value.h"
#include "os/environment.h"
#include "os/files.h"
#include "settings/ralph_folder.h"
#include "ui/run_text.h"

namespace ralph::cli {
namespace {

using OnRecord = std::function<void(const record::Record&)>;

// Reads a run's journal as far as possible; what can't be read is reported in `problems`.
ShownRun read_run(const AnyRun& found, const OnRecord& on_record = {}) {
  const RunFolder& folder = found.folder;
  ShownRun run{folder.id, found.shown_folder(), {}, false, {}, {}};
  if (found.task) run.task = fmt::format("{}/{}", found.task->project, found.task->task);
  const std::string seal = seal_of(found.keeper(), folder.id);  // read before the journal, which may be growing
  bool sealed = seal.empty();
  auto reader = JournalReader::open(join_path(folder.path, kJournalFile));
  if (!reader) {
    run.alive = found.is_alive();
    run.view.unreadable = !run.alive;  // a live run is about to create its journal
    if (!run.alive) run.problems.push_back(reader.error().message);
    return run;
  }
  const auto read_on = [&] {
    for (;;) {
      const auto record = reader->next();
      if (!record) run.problems.push_back(record.error().message);
      sealed = sealed || reader->last_hash() == seal;
      if (!record || !*record) return;
      run.view.add(**record);
      if (on_record) on_record(**record);
    }
  };
  read_on();
  if (!run.view.end) {
    // Only a run without an end is probed: taking the lock could block a run that is just starting.
    run.alive = found.is_alive();
    if (!run.alive) read_on();  // it may have ended between reading and probing
  }
  // A live run may be in the middle of its next record.
  if (!run.alive || reader->bad_lines() > 0) {
    for (std::string& problem : reader->problems()) run.problems.push_back(std::move(problem));
    run.torn = sealed && reader->is_whole() && run.problems.size() == 1 && reader->torn_tail() > 0;
    if (!sealed && reader->is_whole()) run.problems.emplace_back("records are missing that this machine remembers");
  }
  if (is_resumable(run)) run.stuck = why_not_here(found.keeper(), folder.id, *run.view.start, run.view.progress);
  return run;
}

Result<int> list_all(const Arguments& arguments) {
  TRY_VALUE(const Project place, enter_project());
  TRY_VALUE(std::vector<AnyRun> folders, all_runs(place.folder));
  const size_t total = folders.size();
  TRY_VALUE(const auto limit, arguments.count("limit"));
  if (limit) folders.resize(std::min(folders.size(), static_cast<size_t>(*limit)));
  std::vector<ShownRun> runs;
  for (const AnyRun& found : folders) runs.push_back(read_run(found));

  if (arguments.has("json")) {
    json::array list;
    for (const ShownRun& run : runs) list.emplace_back(run_summary(run));
    fmt::print("{}", to_pretty_json(list));
    return 0;
  }
  if (total == 0) {
    fmt::print("There are no runs here yet. Start one with: ralph run -p 'what to do'\n");
    return 0;
  }
  fmt::print("{}", run_table(runs, place.folder, style_of_output(Environment::of_this_process())));
  if (runs.size() < total) fmt::print("({} more, older)\n", total - runs.size());
  return 0;
}

// One object: "records" as in the journal, then the fields of `runs list --json`.
void print_as_json(const AnyRun& found) {
  fmt::print("{{\"records\":[");
  const char* separator = "\n";
  const ShownRun run = read_run(found, [&](const record::Record& record) {
    fmt::print("{}{}", std::exchange(separator, ",\n"), record::to_line(record));
  });
  const std::string summary = to_compact_json(run_summary(run));
  fmt::print("\n],{}\n", std::string_view(summary).substr(1));
}

void print_records(const AnyRun& found) {
  const ShownRun run =
      read_run(found, [](const record::Record& record) { fmt::print("{}\n", record::to_line(record)); });
  std::fflush(stdout);
  for (const std::string& problem : run.problems) {
    fmt::print(stderr, "ralph: {}: {}\n", join_path(run.folder, kJournalFile), fit_to_width(problem, 400));
  }
}

Result<int> show_one(const Arguments& arguments) {
  TRY_VALUE(const Project place, enter_project());
  const std::string_view which =
      arguments.positionals().empty() ? "last" : std::string_view(arguments.positionals()[0]);
  TRY_VALUE(const AnyRun found, find_any_run(place.folder, which));
  if (arguments.has("records")) {
    print_records(found);
  } else if (arguments.has("json")) {
    print_as_json(found);
  } else {
    fmt::print("{}", run_text(read_run(found), style_of_output(Environment::of_this_process())));
  }
  return 0;
}

constexpr Option kListOptions[] = {
    {"limit", 'l', "N", "Only the newest N runs."},
    {"json", 0, "", "Print a JSON array, newest first."},
};

constexpr Option kShowOptions[] = {
    {"json", 0, "", "Print one JSON object: the records, and the fields of 'runs list --json'."},
    {"records", 0, "", "Print only the records, one line of JSON each."},
};

constexpr Positional kShowPositionals[] = {
    {"RUN", "The id of a run, including a task's, its beginning, or \"last\" (the default)."}};

}  // namespace

const Command kRunsList = {
    "runs list",
    "List every run of this project: when, how long, why it ended.",
    "Newest first. A run that has not ended is \"running\" if its process is alive, and \"crashed\" if it was killed.\n"
    "Runs are kept in .ralph/runs/. The runs of all supervised tasks, which are kept in the tasks' own folders, are\n"
    "listed too, with the name of the task and, if it is another one, the folder that it works in.",
    "ralph runs list\n"
    "ralph runs list --limit 5\n"
    "ralph runs list --json",
    kListOptions,
    {},
    list_all,
};

const Command kRunsShow = {
    "runs show",
    "Show one run, iteration by iteration.",
    "Shows what the agent, the guardrails and the SCM did in each iteration, what was decided and why, and which\n"
    "files contain their output. A damaged journal is shown as far as it is intact.",
    "ralph runs show\n"
    "ralph runs show 20261115-202233\n"
    "ralph runs show last --records | jq .type",
    kShowOptions,
    kShowPositionals,
    show_one,
};

}  // namespace ralph::cli
