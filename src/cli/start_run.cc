#include "cli/start_run.h"

#include <filesystem>
#include <memory>
#include <unistd.h>

#include "cli/command.h"
#include "cli/live_run.h"
#include "cli/output_options.h"
#include "cli/run_servers.h"
#include "cli/tell.h"
#include "engine/diagnose.h"
#include "engine/situation.h"
#include "history/receipt.h"
#include "journal/run_folder.h"
#include "journal/writer.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/tty.h"
#include "settings/ralph_folder.h"
#include "ui/console.h"
#include "ui/json_lines.h"

namespace ralph::cli {
namespace {

Result<int> run_in_guard(const RunSetup& setup, const RunBody& body, int guardian);
void say_how_to_continue(const RunSetup& setup);

}  // namespace

RunSetup setup_from(const Arguments& typed, const std::string& project, const std::optional<Resumption>& resumption) {
  RunSetup setup;
  setup.project = project;
  setup.arguments.assign(typed.words().begin(), typed.words().end());
  setup.verbose = typed.has("verbose");
  setup.json = typed.has("json");
  if (resumption) setup.resume = &resumption->point;
  return setup;
}

Result<int> start_run(const RunSetup& setup, const RunBody& body) {
  if (!setup.keeper) {
    TRY(check_criteria(setup.policy, setup.project, Environment::of_this_process()));
    TRY(prepare_ralph_folder(setup.project));
  }
  TRY_VALUE(const int code, run_guarded([&](int guardian) {
              const Result<int> ended = run_in_guard(setup, body, guardian);
              return ended ? *ended : report(ended.error());
            }));
  if (setup.ticket) setup.ticket->end();  // the guardian always outlives the loop
  const bool was_killed = code > 128 && code != exit_code_of(StopStatus::kInterrupted);
  if (was_killed) say_how_to_continue(setup);
  return code;
}

namespace {

// Removes the folder of a new run again if the run does not begin: nothing could show it or continue it.
class UnbegunRun {
 public:
  explicit UnbegunRun(std::string folder) : folder_(std::move(folder)) {}
  UnbegunRun(const UnbegunRun&) = delete;
  UnbegunRun& operator=(const UnbegunRun&) = delete;
  ~UnbegunRun() {
    std::error_code ignored;  // a journal that does not exist has no size either
    const auto size = std::filesystem::file_size(join_path(folder_, kJournalFile), ignored);
    if (ignored || size == 0) std::filesystem::remove_all(folder_, ignored);
  }

 private:
  const std::string folder_;
};

// A run's folder, and the locks that make it this process's.
struct Claim {
  std::vector<Lock> locks;
  RunFolder folder;
  bool resumed = false;
  std::unique_ptr<UnbegunRun> unbegun{};
  std::string seal, store;  // empty if there is no place for them
};
Result<Claim> claim_folder(const RunSetup& setup, const Clock& clock);
Status show_ownership(const RunSetup& setup, const Claim& claim);
std::unique_ptr<RunListener> make_watcher(const RunSetup& setup, const std::string& run_folder,
                                          const Environment& environment);
Result<int> close_run(const RunSetup& setup, const Run& run, const Receipt& receipt, const Result<Decision>& ended);

Result<int> run_in_guard(const RunSetup& setup, const RunBody& body, int guardian) {
  const SystemClock clock;
  std::unique_ptr<RunListener> watcher;  // destroyed last: a slow reader must not hold up the release of the locks
  LinuxProcesses processes(clock, guardian);
  Environment environment = Environment::of_this_process();
  TRY_VALUE(const Claim claim, claim_folder(setup, clock));
  environment.set("RALPH_RUN_ID", claim.folder.id);
  environment.unset("RALPH_TRUST");  // a person's word, not an agent's
  if (setup.ticket) TRY(setup.ticket->begin());
  const Redactor redactor(environment.as_lines(), secret_candidates(setup.loaded.settings));
  watcher = make_watcher(setup, claim.folder.path, environment);
  for (Outlet* outlet : watcher->outlets()) processes.serve(*outlet);
  // Must happen before this process starts anything, because its own jobs carry the run's id too.
  SweepReport swept;
  if (claim.resumed) swept = end_processes_with("RALPH_RUN_ID=" + claim.folder.id, stop_abandoned());
  if (setup.keeper) TRY(setup.keeper->prepare());
  Jobs jobs(guardian);
  if (setup.keeper || setup.protection.on) processes.watch_jobs(jobs);
  std::unique_ptr<Shelter> shelter;
  if (setup.protection.on) {
    TRY_VALUE(shelter, make_shelter(setup.protection, environment, claim.folder.path, jobs));
  }
  RunServers servers;
  const bool in_machine = setup.protection.checks_in_machine();
  TRY(servers.start({setup.policy, setup.project, environment, shelter.get(), in_machine}, jobs));
  if (claim.seal.empty()) watcher->on_trouble(kNoStateFolder);
  TRY(show_ownership(setup, claim));
  Receipt receipt;
  TRY_VALUE(Run run,
            Run::open(claim.folder, setup.policy,
                      {processes, clock, redactor, *watcher, setup.project, environment, claim.store, claim.seal,
                       shelter.get(), servers.socket(), [&](const auto& record) { receipt.add(record); }}));
  run.swept_before = std::move(swept);
  const Result<Decision> ended = body(run, {processes, jobs});
  return close_run(setup, run, receipt, ended);
}

std::string refusal_of_project(const std::string& project, const std::optional<LockOwner>& owner) {
  if (!owner) return fmt::format("another ralph run is working in {}; wait for it to end", project);
  const int pid = owner->is_dead() ? owner->loop : owner->pid;
  return fmt::format(
      "another ralph run is working in {}: run {}, pid {}, since {}; wait for it, or end it with: kill {}", project,
      owner->run_id, pid, owner->since, pid);
}

Result<std::vector<Lock>> take_locks_for(const RunSetup& setup) {
  const LockPlace place = setup.keeper ? setup.keeper->locks : locks_of_project(setup.project);
  if (!place.outside.empty())
    TRY(prepare_state_folder(parent_path(place.outside), "a run keeps its lock and its seal there"));
  auto locks = take_locks(place, kDyingOwnerWait);
  if (locks || locks.error().kind != ErrorKind::kBusy) return locks;
  const auto owner = owner_in(locks.error().message);
  return fail(ErrorKind::kBusy, "{}",
              setup.keeper ? setup.keeper->refusal(owner) : refusal_of_project(setup.project, owner));
}

// The folder of the run that goes on, or of a new one.
Result<RunFolder> folder_for(const RunSetup& setup, const Clock& clock) {
  if (setup.resume) return setup.resume->folder;
  if (!setup.keeper) return create_run_folder(setup.project, new_run_id(clock.wall()));
  const std::string id = setup.keeper->run_id();
  return RunFolder{id.empty() ? new_run_id(clock.wall()) : id, setup.keeper->folder};
}

Result<Claim> claim_folder(const RunSetup& setup, const Clock& clock) {
  const std::string state = state_folder(Environment::of_this_process());
  for (const std::string& name : names_in(state)) remove_abandoned_writes(join_path(state, name));
  Claim claim;
  TRY_VALUE(claim.locks, take_locks_for(setup));
  TRY_VALUE(claim.folder, folder_for(setup, clock));
  claim.resumed = path_exists(join_path(claim.folder.path, kJournalFile));
  if (!claim.resumed && !setup.keeper) claim.unbegun = std::make_unique<UnbegunRun>(claim.folder.path);
  const LockOwner owner{claim.folder.id, to_iso8601(clock.wall()), guardian_pid(), ::getpid()};
  for (Lock& lock : claim.locks) TRY(lock.name_owner(line_of(owner)));
  const std::string& keeper = setup.keeper ? setup.keeper->folder : setup.project;
  if (claim.resumed) remove_unfinished_writes(seal_path(keeper, claim.folder.id));
  claim.seal = seal_path(keeper, claim.folder.id);
  claim.store = watched_store(keeper, claim.folder.id);
  return claim;
}

// The seal's existence shows that this user started the run here.
Status show_ownership(const RunSetup& setup, const Claim& claim) {
  if (claim.seal.empty()) return {};
  if (setup.keeper && !setup.keeper->run_id().empty() && !is_real_file(claim.seal)) {
    return fail(ErrorKind::kInput,
                "{} was not written here by this user, so it can't be continued; move it away to begin anew",
                join_path(claim.folder.path, kJournalFile));
  }
  TRY_VALUE([[maybe_unused]] const Fd made, open_for_append(claim.seal));
  return {};
}

std::unique_ptr<RunListener> make_watcher(const RunSetup& setup, const std::string& run_folder,
                                          const Environment& environment) {
  if (setup.json) return std::make_unique<JsonLines>(join_path(run_folder, kJournalFile));
  ConsoleOptions options;
  const OutputSettings& output = setup.loaded.settings.output;
  options.style = with_output_settings(style_for(STDOUT_FILENO, environment), output);
  options.format = format_options(output, options.style);
  options.agent_output = setup.loaded.settings.stream_agent_output;
  options.verbose = setup.verbose;
  options.guardrails = setup.checks;
  if (!run_folder.starts_with(join_path(setup.project, ".ralph/"))) options.folder = run_folder;
  options.task = setup.policy.task;
  if (options.task) options.wait_exit_code = kWaitExitCode;
  return std::make_unique<Console>(std::move(options));
}

// Writes the receipt, removes what only a resumed run would need, and says how the run ended.
Result<int> close_run(const RunSetup& setup, const Run& run, const Receipt& receipt, const Result<Decision>& ended) {
  // The seal stays: `runs verify` compares the journal's end with it.
  if (run.progress().status != StopStatus::kNone) {
    if (const Status written = write_receipt(receipt, run.journal_hash(), run.folder); !written)
      fmt::print(stderr, "ralph: the receipt could not be written: {}\n", written.error().message);
  }
  TRY_VALUE(const Decision decision, ended);
  if (decision.status == StopStatus::kComplete && !setup.keeper) {
    std::error_code ignored;  // a leftover folder does no harm
    std::filesystem::remove_all(run.store, ignored);
    ::unlink(arguments_path(run.folder).c_str());
  }
  // If the console has just shown the reason on the same terminal, standard error does not repeat it.
  const bool said = !setup.json && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (decision.status == StopStatus::kFatal && !said) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

void say_how_to_continue(const RunSetup& setup) {
  if (state_folder(Environment::of_this_process()).empty()) return;  // it can't be resumed
  std::string id;
  if (setup.keeper) {
    id = setup.keeper->run_id();
  } else if (const auto run = killed_run(setup.project)) {
    id = run->folder.id;
  }
  if (!id.empty()) tell(fmt::format("ralph: to go on: {}\n", command_to_continue(setup.project, id)));
}

}  // namespace
}  // namespace ralph::cli
