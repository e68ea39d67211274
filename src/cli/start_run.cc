#include "cli/start_run.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>
#include <unistd.h>

#include "cli/accept.h"
#include "cli/command.h"
#include "cli/live_run.h"
#include "cli/output_options.h"
#include "cli/resume.h"
#include "cli/run_servers.h"
#include "cli/tell.h"
#include "engine/diagnose.h"
#include "engine/situation.h"
#include "engine/step.h"
#include "engine/trigger_places.h"
#include "git/loose_head.h"
#include "git/repository.h"
#include "git/stale_lock.h"
#include "history/receipt.h"
#include "journal/run_folder.h"
#include "os/clock.h"
#include "os/guardian.h"
#include "os/lock.h"
#include "os/process_tree.h"
#include "os/processes_linux.h"
#include "os/tty.h"
#include "settings/ralph_folder.h"
#include "ui/console.h"
#include "ui/json_lines.h"
#include "version.h"

namespace ralph::cli {
namespace {

constexpr Milliseconds kDyingOwnerWait{5'000}, kLockPoll{20};

void remove_folder(const std::string& path) {
  std::error_code ignored;  // a leftover folder does no harm
  std::filesystem::remove_all(path, ignored);
}

std::string owner_line(const std::string& run_id, const Clock& clock) {
  json::object owner;
  owner["runId"] = run_id;
  owner["pid"] = guardian_pid();  // the process that the user started and may end
  owner["loop"] = ::getpid();     // holds the lock, even if the guardian is killed
  owner["startTime"] = to_iso8601(clock.wall());
  return to_compact_json(owner) + "\n";
}

// Whether the process that the lock names is gone, but one that it started still holds the lock.
bool is_held_by_the_dead(const Result<Lock>& lock) {
  if (lock || lock.error().kind != ErrorKind::kBusy) return false;
  const auto owner = parse_json(lock.error().message, "lock");
  const auto pid = owner ? find_integer(*owner, "pid") : std::nullopt;
  return pid && *pid > 0 && start_time_of(static_cast<int>(*pid)) == 0;
}

Result<Lock> take_lock(const RunSetup& setup, const std::string& path) {
  auto lock = Lock::acquire(path);
  // A loop whose guardian was killed is still ending its agent. That takes only a moment.
  for (Milliseconds waited{0}; is_held_by_the_dead(lock) && waited < kDyingOwnerWait; waited += kLockPoll) {
    std::this_thread::sleep_for(kLockPoll);
    lock = Lock::acquire(path);
  }
  if (lock || lock.error().kind != ErrorKind::kBusy) return lock;
  const auto owner = parse_json(lock.error().message, "lock");
  if (!owner) return fail(ErrorKind::kBusy, "another ralph run is working in {}; wait for it to end", setup.project);
  auto pid = find_integer(*owner, "pid").value_or(0);
  if (start_time_of(static_cast<int>(pid)) == 0) pid = find_integer(*owner, "loop").value_or(pid);
  return fail(ErrorKind::kBusy,
              "another ralph run is working in {}: run {}, pid {}, since {}; wait for it, or end it with: kill {}",
              setup.project, find_string(*owner, "runId").value_or("?"), pid,
              find_string(*owner, "startTime").value_or("?"), pid);
}

// Takes the lock in the project and one outside, which an agent can't remove together with .ralph. Without a state
// folder, the first has to do.
Result<std::vector<Lock>> lock_project(const RunSetup& setup, const std::string& state) {
  std::vector<Lock> locks;
  if (!state.empty()) {
    TRY(prepare_state_folder(state, "a run keeps its lock and its seal there"));
    TRY_VALUE(Lock outside, take_lock(setup, join_path(state, "lock")));
    locks.push_back(std::move(outside));
  }
  TRY_VALUE(Lock inside, take_lock(setup, join_path(setup.project, ".ralph/lock")));
  locks.push_back(std::move(inside));
  return locks;
}

// Runs in the guarded process.
Result<int> run_in_project(const RunSetup& setup, const RunBody& body, int guardian) {
  const SystemClock clock;
  std::unique_ptr<RunListener> watcher;  // destroyed last: a slow reader must not hold up the release of the locks
  LinuxProcesses processes(clock, guardian);
  Environment environment = Environment::of_this_process();
  const std::string state = project_state_folder(environment, setup.project);
  for (const std::string& name : names_in(state_folder(environment)))
    remove_abandoned_writes(join_path(state_folder(environment), name));
  TRY_VALUE(std::vector<Lock> locks, lock_project(setup, state));
  RunFolder folder;
  if (setup.resume) {
    folder = setup.resume->folder;
  } else {
    TRY_VALUE(folder, create_run_folder(setup.project, new_run_id(clock.wall())));
  }
  for (Lock& lock : locks) TRY(lock.name_owner(owner_line(folder.id, clock)));
  environment.set("RALPH_RUN_ID", folder.id);
  environment.unset("RALPH_TRUST");  // a person's word, not an agent's
  if (setup.ticket) TRY(setup.ticket->begin());
  const Redactor redactor(environment.as_lines(), secret_candidates(setup.loaded.settings));
  watcher = make_watcher(setup, folder.path, environment);
  for (Outlet* outlet : watcher->outlets()) processes.serve(*outlet);
  if (state.empty()) watcher->on_trouble(kNoStateFolder);
  if (setup.resume) remove_unfinished_writes(seal_path(setup.project, folder.id));
  const std::string seal = seal_path(setup.project, folder.id);
  const std::string store = watched_store(setup.project, folder.id);
  // Must happen before this process starts anything, because its own jobs carry the run's id too.
  SweepReport swept;
  if (setup.resume) swept = end_processes_with("RALPH_RUN_ID=" + folder.id, stop_abandoned());
  Jobs jobs(guardian);
  std::unique_ptr<Shelter> shelter;
  if (setup.protection && setup.protection->on) {
    processes.watch_jobs(jobs);
    TRY_VALUE(shelter, put_in_force(*setup.protection, environment, folder.path, jobs));
  }
  RunServers servers;
  const bool in_machine = setup.protection && setup.protection->checks_in_machine();
  TRY(servers.start({setup.policy, setup.project, environment, shelter.get(), in_machine}, jobs));
  // The seal's existence shows that this user started the run here.
  if (!seal.empty()) {
    TRY_VALUE([[maybe_unused]] const Fd made, open_for_append(seal));
  }
  Receipt receipt;
  TRY_VALUE(Run run, Run::open(folder, setup.policy,
                               {processes, clock, redactor, *watcher, setup.project, environment, store, seal,
                                shelter.get(), servers.socket(), [&](const auto& record) { receipt.add(record); }}));
  run.swept_before = std::move(swept);
  const Result<Decision> ended = body(run);
  // The seal stays: `runs verify` compares the journal's end with it.
  if (run.progress().status != StopStatus::kNone) {
    if (const Status written = write_receipt(receipt, run.journal_hash(), folder.path); !written)
      fmt::print(stderr, "ralph: the receipt could not be written: {}\n", written.error().message);
  }
  TRY_VALUE(const Decision decision, ended);
  if (decision.status == StopStatus::kComplete) {  // nothing to resume
    remove_folder(run.store);
    ::unlink(arguments_path(folder.path).c_str());
  }
  // If the console has just shown the reason on the same terminal, standard error does not repeat it.
  const bool said = !setup.json && is_terminal(STDOUT_FILENO) && is_terminal(STDERR_FILENO);
  if (decision.status == StopStatus::kFatal && !said) return fail(ErrorKind::kInput, "{}", decision.reason);
  return exit_code_of(decision.status);
}

// What a killed process of a run left behind. It is cleaned up before anything else happens.
struct Leftovers {
  SweepReport swept;
  bool unlocked = false;
};

Result<Leftovers> put_away(const std::string& project, SweepReport swept, WallTime began) {
  Leftovers left{std::move(swept)};
  TRY_VALUE(left.unlocked, remove_stale_index_lock(plain_git(project), project, began));
  return left;
}

Status note_leftovers(Run& run, const Leftovers& left) {
  if (left.unlocked) run.listener.on_detail("Removed the index.lock that a killed git had left");
  if (left.swept.ended.empty() && left.swept.survivors.empty()) return {};
  return run.note(swept_after(StepKind::kAgent, left.swept));
}

Status note_resumed(Run& run, const RunSetup& setup, const RunTitle& title) {
  TRY_VALUE(const Leftovers left, put_away(setup.project, run.swept_before, setup.resume->began));
  const WallTime last = last_sign_of_life(run);
  record::RunResumed resumed;
  resumed.run_id = run.id;
  resumed.ralph_version = RALPH_VERSION;
  resumed.agent = title.agent;
  resumed.arguments = setup.arguments;
  resumed.pid = guardian_pid();
  resumed.max_iterations = run.policy.max_iterations;
  resumed.spent_ms = (run.progress().run_time + (last - run.progress().last_record)).count();
  resumed.settings = setup.loaded.effective;
  run.disbelieve(resumed);
  TRY(run.note(std::move(resumed)));
  TRY(note_leftovers(run, left));
  TRY(close_killed_attempt(run, title.agents, setup.loaded.settings.stream_agent_output, last));
  TRY(note_shelter(run));
  return run.sync();
}

}  // namespace

bool was_killed(int code) {
  return code > 128 && code != exit_code_of(StopStatus::kInterrupted);
}

void say_how_to_continue(const std::string& project, const std::string& run_id) {
  if (state_folder(Environment::of_this_process()).empty()) return;  // it can't be resumed
  tell(fmt::format("ralph: to go on: {}\n", command_to_continue(project, run_id)));
}

Status note_shelter(Run& run) {
  if (!run.shelter) return {};
  record::SandboxNoted noted;
  noted.in_force = run.shelter->describe();
  return run.note(std::move(noted));
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

Status note_start(Run& run, const RunSetup& setup, const RunTitle& title) {
  run.policy.agent_programs = program_words(title.agents);
  if (run.is_resumed()) return note_resumed(run, setup, title);
  Leftovers left;
  if (const auto killed = killed_run(setup.project, run.id)) {
    SweepReport swept = end_processes_with("RALPH_RUN_ID=" + killed->folder.id, stop_abandoned());
    TRY_VALUE(left, put_away(setup.project, std::move(swept), killed->began));
  }
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
  started.commit = checked_out_commit(run.project);
  started.masked = std::any_of(setup.arguments.begin(), setup.arguments.end(),
                               [&](const std::string& word) { return run.redactor.redact(word) != word; });
  if (started.masked)
    TRY(write_file_atomically(arguments_path(run.folder), to_compact_json(to_json_array(setup.arguments)), 0600));
  TRY(run.note(std::move(started)));
  TRY(note_shelter(run));
  return note_leftovers(run, left);
}

Result<int> start_run(const RunSetup& setup, const RunBody& body) {
  TRY(check_criteria(setup.policy, setup.project, Environment::of_this_process()));
  TRY(prepare_ralph_folder(setup.project));
  TRY_VALUE(const int code, run_guarded([&](int guardian) {
              const Result<int> ended = run_in_project(setup, body, guardian);
              return ended ? *ended : report(ended.error());
            }));
  if (setup.ticket) setup.ticket->end();  // the guardian always outlives the loop
  if (was_killed(code)) {
    if (const auto run = killed_run(setup.project)) say_how_to_continue(setup.project, run->folder.id);
  }
  return code;
}

}  // namespace ralph::cli
