// Starts and ends every run: the guardian, the project's lock, the run's folder with its journal, and the observers.
// The caller creates the way in and drives it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cli/protection.h"
#include "engine/resume.h"
#include "settings/settings.h"

namespace ralph::cli {

class TrustTicket;

struct RunSetup {
  const LoadedSettings& loaded;
  std::string project;  // absolute
  bool verbose = false;
  bool json = false;
  Policy policy;
  int checks = 0;                          // their number, shown at the start
  std::vector<std::string> arguments{};    // as typed
  const ResumePoint* resume = nullptr;     // the run to resume; nullptr: a new one
  std::string typed_in{};                  // where the command was typed; empty: the current directory
  const TrustTicket* ticket = nullptr;     // nullptr: nobody has to accept the project's commands
  const Protection* protection = nullptr;  // nullptr: programs run directly
};

// Runs in the guarded process: creates the way in, calls note_start() and drives the run.
using RunBody = std::function<Result<Decision>(Run&)>;

// Returns the exit code. Errors in the guarded process are reported there.
Result<int> start_run(const RunSetup& setup, const RunBody& body);

// Writes the first record of this process; called by the body once it knows its agents. For a resumed run, whatever its
// killed process left is ended and recorded first.
struct RunTitle {
  WayIn way;
  std::string agent, prompt_source, prompt;
  Agents agents{};  // all that the run may start
};
Status note_start(Run& run, const RunSetup& setup, const RunTitle& title);

// Records the sandbox that the run's programs are in, if there is one.
Status note_shelter(Run& run);

// Whether an exit code of run_guarded() means that the loop was killed. Then the user is told how to continue.
bool was_killed(int code);
void say_how_to_continue(const std::string& project, const std::string& run_id);

// The listener that shows a run whose files are in this folder: the console, or lines of JSON.
std::unique_ptr<RunListener> make_watcher(const RunSetup& setup, const std::string& run_folder,
                                          const Environment& environment);

}  // namespace ralph::cli
