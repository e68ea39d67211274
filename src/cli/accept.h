// The gate in front of every command that runs what a project's settings name. What a person types runs, as with make.
// But in a terminal, a project's commands are shown before they run for the first time, and settings that changed while
// an agent was running are never accepted silently. settings/trust.h keeps the record.
//
//   TRY_VALUE(const TrustTicket ticket, accept_project({loaded, project, typed.has("trust"), json}));
//   TRY(ticket.begin());   // a run begins
//   ...
//   ticket.end();          // the run and all its processes have ended: are the settings still the same?
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "os/shared_flag.h"
#include "settings/trust.h"

namespace ralph::cli {

inline constexpr Option kTrustOption =
    on_resume({"trust", 0, "", "Run the project's commands this once, even if they are new or have changed."});

// Whether this process was started by an agent that ralph runs. Such a process must not accept anything.
bool is_below_agent(const Environment& environment);

// Fails if called below an agent: `what` (a command or option) is only for the person who runs the agent.
Status refuse_agents(const Environment& environment, std::string_view what);

// Whether the user has accepted the project's commands for this run only, with --trust (`typed`) or RALPH_TRUST. Fails
// for an agent.
Result<bool> is_trusted_once(bool typed);

// The settings as `ralph trust` compares and shows them: without secrets.
SettingValues shown_values(const LoadedSettings& loaded);

// One line per command of the project, such as "agent.command: claude", and per setting that affects what runs. Lines
// for variables that change what programs do, or where the agent sends its data, say so.
struct NamedCommands {
  std::vector<std::string> commands, settings;
};
NamedCommands describe_commands(const SettingValues& values);

// Prints the notes from loading the settings, such as what was ignored, on standard error.
void print_notes(const LoadedSettings& loaded);

struct AcceptRequest {
  const LoadedSettings& loaded;
  std::string project;                                        // absolute
  bool trusted = false;                                       // --trust was typed
  bool json = false;                                          // nobody can be asked
  bool changes_shown = false;                                 // the caller has shown what differs from the last run
  const std::vector<std::string>* verify_commands = nullptr;  // of the plan to run; nullptr: there is none
};

class TrustTicket {
 public:
  // Records the current settings, so that a change made while an agent runs is detected even if ralph is killed.
  Status begin() const;
  // Compares the settings with that record, and reports changes.
  void end() const;

 private:
  friend Result<TrustTicket> accept_project(const AcceptRequest& request);
  TrustRecord record_at_work() const;

  TrustRecord record_;
  SettingValues now_, seen_;  // the settings; with the verify commands of a plan
  std::string began_;         // names this process, in the record
  SharedFlag begun_;          // set by the loop, read by the guardian
  bool kept_ = false;         // there is a place for the record, and no question about it is open
};

// Fails if the answer is no, or if an answer is required and nobody can give it. Then nothing may be started.
Result<TrustTicket> accept_project(const AcceptRequest& request);

// The error that accept_project() would return if nobody could be asked. Changes and prints nothing. Empty: the run
// would begin.
std::string foreseen_refusal(const LoadedSettings& loaded, const std::string& project);

}  // namespace ralph::cli
