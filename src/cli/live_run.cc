#include "cli/live_run.h"

#include "journal/reader.h"
#include "journal/writer.h"
#include "os/environment.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph::cli {

LockPlace locks_of_project(const std::string& project) {
  return {join_path(project, ".ralph/lock"), outer_lock(Environment::of_this_process(), project)};
}

std::optional<std::string> live_run(const std::string& project) {
  const auto owner = owner_of(locks_of_project(project));
  return owner && !owner->run_id.empty() ? std::optional(owner->run_id) : std::nullopt;
}

std::optional<KilledRun> killed_run(const std::string& project, const std::string& except) {
  const auto folders = list_runs(project);
  for (const RunFolder& folder : folders.value_or(std::vector<RunFolder>())) {
    if (folder.id == except) continue;
    auto reader = JournalReader::open(join_path(folder.path, kJournalFile));
    if (!reader) return std::nullopt;
    std::optional<WallTime> began;
    bool ended = false, session = false;
    for (auto record = reader->next(); record && *record; record = reader->next()) {
      if (!began) began = (*record)->time;
      const auto* started = std::get_if<record::RunStarted>(&(*record)->body);
      if (started) session = started->way == WayIn::kSession;
      ended = std::holds_alternative<record::RunEnded>((*record)->body);
    }
    if (session) continue;
    if (!began || ended || live_run(project) == folder.id) return std::nullopt;
    return KilledRun{folder, *began};
  }
  return std::nullopt;
}

}  // namespace ralph::cli
