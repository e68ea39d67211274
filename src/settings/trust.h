// Records which commands of a project this user has accepted, and the project's settings when the last run began. Kept
// in the state folder, outside the project, so that nothing in a clone can accept itself.
//
//   TrustRecord record = load_trust(environment, project);
//   const SettingValues now = values_of(loaded, shown);
//   if (!record.accepts(now)) ...        // show differences(record.accepted, now, Concern::kCommands), ask
//   record.accept(now, "ralph trust", time);
//   TRY(save_trust(environment, record));
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "os/environment.h"
#include "settings/settings.h"

namespace ralph {

// A scalar or a list of the settings. Values are compared by hash; the displayed form contains no secrets.
struct SettingValue {
  std::string hash, shown;

  template <class V>
  void fields(V&& v) {
    v("hash", hash), v("shown", shown);
  }
};
using SettingValues = std::map<std::string, SettingValue>;  // by JSON pointer

// Returns the displayed form of a value.
using ShownValue = std::function<std::string(const std::string& pointer, const json::value& value)>;

// The values of a project's settings and, with "~" before the pointers, of the user's own.
SettingValues values_of(const LoadedSettings& loaded, const ShownValue& shown);

// A plan's verify commands are not settings, but they are commands of the project too. They are recorded under this
// name.
inline constexpr std::string_view kVerifyCommands = "/plan/verifyCommands";
SettingValue verify_commands_value(const std::vector<std::string>& commands);

// Whether a setting names programs to run, their arguments or environment, or controls how they run.
bool names_commands(std::string_view pointer);
bool is_command(std::string_view pointer);  // of these, the ones that people would call commands
bool has_commands(const SettingValues& values);

enum class Concern { kCommands, kOnlyCommands, kOnlySettings, kAll };  // kCommands: the union of the next two

// "guardrails: [...], was [...]", one line per setting that differs. Settings of the output format are ignored.
std::vector<std::string> differences(const SettingValues& then, const SettingValues& now, Concern concern);

struct TrustRecord {
  std::string project;
  std::string accepted_by, accepted_at;  // "ralph init", "ralph trust", ...; empty: never
  SettingValues accepted;                // commands only
  SettingValues seen;                    // when the last run began
  TrustMode mode = TrustMode::kAsk;      // when the last run began
  // The current run, or the last one known. It stays set if the settings have changed since it began: somebody changed
  // them while an agent was running.
  std::string running;
  bool known = false;  // there has been a run or an acceptance

  bool is_accepted() const { return !accepted_by.empty(); }
  // If `now` has no verify commands, because there is no plan, accepts() ignores the accepted ones and accept() keeps
  // them.
  bool accepts(const SettingValues& now) const;
  void accept(const SettingValues& now, std::string by, std::string at);
  // The changes made while an agent was running that nobody has accepted since.
  std::vector<std::string> changed_under_agent(const SettingValues& now) const;

  template <class V>
  void fields(V&& v) {
    v("project", project), v("acceptedBy", accepted_by), v("acceptedAt", accepted_at), v("accepted", accepted);
    v("seen", seen), v("mode", mode), v("running", running);
  }
};

std::string trust_file(const Environment& environment, const std::string& project);  // empty: no state folder
// An unreadable record counts as none, so a person is asked again.
TrustRecord load_trust(const Environment& environment, const std::string& project);
Status save_trust(const Environment& environment, const TrustRecord& record);

// Whether this user has accepted the project and its commands as they are now. Only then may a hook or a read-only
// command run a program that the project names. Runs nothing itself. `project` is absolute.
bool project_is_accepted(const Environment& environment, const std::string& project);

// Whether RALPH_TRUST accepts the project's commands for this run only: any value but "", "0" and "false".
bool is_trusted_by_environment(const Environment& environment);

}  // namespace ralph
