// The door of every command that runs what a project's settings name. What a person types runs, as with make; but in a
// terminal they are shown a project's commands before these run for the first time, and nobody's silence accepts
// settings that changed while an agent was running. The record of it is in settings/trust.h.
//
//   TRY_VALUE(const TrustTicket ticket, accept_project({loaded, project, typed.has("trust"), json}));
//   TRY(ticket.begin());   // a run begins
//   ...
//   ticket.end();          // it has ended, and so have all its processes: are the settings still the same?
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "os/shared_flag.h"
#include "settings/trust.h"

namespace ralph::cli {

inline constexpr Option kTrustOption =
    on_resume({"trust", 0, "", "Run the project's commands this once, even if they are new or have changed."});

// Whether an agent that ralph runs has started this process: it must not accept anything.
bool is_below_agent(const Environment& environment);

// Fails for an agent: what is typed (`what`) is for the person who runs it.
Status refuse_agents(const Environment& environment, std::string_view what);

// Whether the user has accepted, for this once, what is not theirs: by --trust (`typed`) or RALPH_TRUST. Fails for an
// agent.
Result<bool> is_trusted_once(bool typed);

// The settings as `ralph trust` compares and shows them: without secrets.
SettingValues shown_values(const LoadedSettings& loaded);

// "agent.command: claude", one line for each command of the project and for each setting about what runs; variables
// that change what programs do or where the agent sends its words say so.
struct NamedCommands {
  std::vector<std::string> commands, settings;
};
NamedCommands describe_commands(const SettingValues& values);

// Notes of the settings, such as what was ignored, on standard error.
void print_notes(const LoadedSettings& loaded);

struct AcceptRequest {
  const LoadedSettings& loaded;
  std::string project;                                        // absolute
  bool trusted = false;                                       // --trust was typed
  bool json = false;                                          // nobody can be asked
  bool told = false;                                          // the caller has shown what differs from the last run
  const std::vector<std::string>* verify_commands = nullptr;  // of the plan that is to run; nullptr: there is none
};

class TrustTicket {
 public:
  // Writes down what the settings are, so that a change while an agent runs is known even if ralph is killed.
  Status begin() const;
  // Compares, and says so if they have changed.
  void end() const;

 private:
  friend Result<TrustTicket> accept_project(const AcceptRequest& request);
  TrustRecord record_at_work() const;

  TrustRecord record_;
  SettingValues now_, seen_;  // the settings; with the verify commands of a plan
  std::string began_;         // names this process, in the record
  SharedFlag begun_;          // by the loop, for the guardian
  bool kept_ = false;         // there is a place for the record, and nothing in it waits for an answer
};

// Fails if the answer is no, or if there must be one and nobody is there to give it; then nothing may be started.
Result<TrustTicket> accept_project(const AcceptRequest& request);

// What accept_project() would say where nobody can be asked; changes nothing and says nothing. Empty: it would let the
// run begin.
std::string foreseen_refusal(const LoadedSettings& loaded, const std::string& project);

}  // namespace ralph::cli
