// Starts and ends every run: guardian, locks, the run's folder with its journal, sandbox, observers, receipt. The
// caller creates the way in and drives it.
//
//   RunSetup setup = setup_from(typed, project, resumption);
//   setup.loaded = ...;
//   return start_run(setup, [&](Run& run, RunMeans) -> Result<Decision> {
//     TRY(note_start(run, setup, title));   // cli/note_start.h
//     SomeWay way(run);
//     return drive(run, way);
//   });
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/accept.h"
#include "cli/protection.h"
#include "cli/resume.h"
#include "journal/run_lock.h"
#include "os/processes_linux.h"
#include "settings/settings.h"

namespace ralph::cli {

// How a run is kept that has a folder of its own, outside the project's .ralph: that of a supervised task. Unlike other
// runs, it can go on after it was complete, and the project may have several at once.
struct RunKeeper {
  std::string folder;  // absolute, with the journal; its state folder has the seal and copies of watched files
  LockPlace locks;
  std::function<std::string()> run_id;  // of the journal in the folder; empty: there is none
  std::function<Status()> prepare;      // called with the locks held, before anything is started
  std::function<std::string(const std::optional<LockOwner>&)> refusal;  // the message if somebody else has the locks
};

struct RunSetup {
  LoadedSettings loaded;
  std::string project;                 // absolute
  std::string typed_in;                // where the command was typed; empty: the current directory
  std::vector<std::string> arguments;  // as typed
  bool verbose = false, json = false;
  Policy policy;
  int checks = 0;                       // their number, shown at the start
  const ResumePoint* resume = nullptr;  // the run to resume; nullptr: a new one
  std::optional<TrustTicket> ticket;    // nullopt: nobody has to accept the project's commands
  Protection protection;                // the default: programs run directly
  const RunKeeper* keeper = nullptr;    // nullptr: .ralph in the project
};

// For a body that starts jobs.
struct RunMeans {
  LinuxProcesses& processes;
  Jobs& jobs;
};

// Runs in the guarded process: creates the way in, calls note_start() and drives the run.
using RunBody = std::function<Result<Decision>(Run&, RunMeans)>;

// What every command with a run takes from its command line; the caller adds the rest. `resumption` must outlive it.
RunSetup setup_from(const Arguments& typed, const std::string& project,
                    const std::optional<Resumption>& resumption = std::nullopt);

// Returns the exit code. Errors in the guarded process are reported there.
Result<int> start_run(const RunSetup& setup, const RunBody& body);

}  // namespace ralph::cli
