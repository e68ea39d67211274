#include "cli/note_start.h"

#include <algorithm>

#include "cli/live_run.h"
#include "engine/step.h"
#include "engine/trigger_places.h"
#include "git/loose_head.h"
#include "git/repository.h"
#include "git/stale_lock.h"
#include "os/files.h"
#include "os/guardian.h"
#include "version.h"

namespace ralph::cli {
namespace {

// What a killed process of a run left behind. It is cleaned up before anything else happens.
struct Leftovers {
  SweepReport swept;
  bool unlocked = false;
};

Result<Leftovers> clean_up_leftovers(const std::string& project, SweepReport swept, WallTime began) {
  Leftovers left{std::move(swept)};
  TRY_VALUE(left.unlocked, remove_stale_index_lock(plain_git(project), project, began));
  return left;
}

Status note_leftovers(Run& run, const Leftovers& left) {
  if (left.unlocked) run.listener.on_detail("Removed the index.lock that a killed git had left");
  if (left.swept.ended.empty() && left.swept.survivors.empty()) return {};
  return run.note(swept_after(StepKind::kAgent, left.swept));
}

// An older index.lock is not this run's; nullopt: it left none. Other tasks may be at work in the project, so a task
// removes only what an agent that was killed may have left.
std::optional<WallTime> first_lock_of(const Run& run, const RunSetup& setup) {
  if (!setup.keeper) return setup.resume->began;
  const auto& killed = run.progress().running;
  return killed ? std::optional(killed->started) : std::nullopt;
}

bool has_secrets(const Run& run, const std::vector<std::string>& words) {
  return std::ranges::any_of(words, [&](const std::string& word) { return run.redactor.redact(word) != word; });
}

Status note_resumed(Run& run, const RunSetup& setup, const RunTitle& title) {
  Leftovers left{run.swept_before};
  if (const auto since = first_lock_of(run, setup)) {
    TRY_VALUE(left, clean_up_leftovers(setup.project, run.swept_before, *since));
  }
  const WallTime last = last_sign_of_life(run);
  record::RunResumed resumed;
  resumed.run_id = run.id;
  resumed.ralph_version = RALPH_VERSION;
  resumed.agent = title.agent;
  resumed.arguments = setup.arguments;
  if (setup.keeper) {  // it was not resumed but started again, perhaps with other arguments
    resumed.folder = setup.typed_in;
    resumed.masked = has_secrets(run, setup.arguments);
  }
  resumed.pid = guardian_pid();
  resumed.max_iterations = run.policy.max_iterations;
  resumed.spent_ms = (run.progress().run_time + (last - run.progress().last_record)).count();
  resumed.settings = setup.loaded.effective;
  run.list_unsealed_claims(resumed);
  TRY(run.note(std::move(resumed)));
  TRY(note_leftovers(run, left));
  TRY(close_killed_attempt(run, title.agents, setup.loaded.settings.stream_agent_output, last));
  TRY(note_shelter(run));
  return run.sync();
}

// The run before this one, if it was killed. A task has only one.
Result<Leftovers> clean_up_killed_run(const Run& run, const RunSetup& setup) {
  const auto killed = setup.keeper ? std::nullopt : killed_run(setup.project, run.id);
  if (!killed) return Leftovers();
  SweepReport swept = end_processes_with("RALPH_RUN_ID=" + killed->folder.id, stop_abandoned());
  return clean_up_leftovers(setup.project, std::move(swept), killed->began);
}

}  // namespace

Status note_start(Run& run, const RunSetup& setup, const RunTitle& title) {
  run.policy.agent_programs = program_words(title.agents);
  if (run.is_resumed()) return note_resumed(run, setup, title);
  TRY_VALUE(const Leftovers left, clean_up_killed_run(run, setup));
  record::RunStarted started;
  started.run_id = run.id;
  started.way = title.way;
  started.ralph_version = RALPH_VERSION;
  started.project = run.project;
  started.agent = title.agent;
  started.prompt_source = title.prompt_source;
  started.prompt = title.prompt;
  started.pid = guardian_pid();
  started.max_iterations = run.policy.max_iterations;
  started.settings = setup.loaded.effective;
  TRY_VALUE(const std::string here, current_directory());
  started.folder = setup.typed_in.empty() ? here : setup.typed_in;
  started.arguments = setup.arguments;
  started.masked = has_secrets(run, setup.arguments);
  if (!setup.keeper) {
    started.commit = checked_out_commit(run.project);
    if (started.masked)
      TRY(write_file_atomically(arguments_path(run.folder), to_compact_json(to_json_array(setup.arguments)), 0600));
  }
  TRY(run.note(std::move(started)));
  TRY(note_shelter(run));
  return note_leftovers(run, left);
}

Status note_shelter(Run& run) {
  if (!run.shelter) return {};
  record::SandboxNoted noted;
  noted.in_force = run.shelter->describe();
  return run.note(std::move(noted));
}

}  // namespace ralph::cli
