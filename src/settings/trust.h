// Which commands of a project this user has accepted, and what its settings were when the last run began. Kept in the
// state folder, outside the project: nothing that comes with a clone can accept itself.
//
//   TRY_VALUE(TrustRecord record, load_trust(environment, project));
//   const SettingValues now = values_of(loaded.project, shown);
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

// A scalar or a list of the settings. Values are compared by their hash; what is shown of them has no secrets.
struct SettingValue {
  std::string hash, shown;
};
using SettingValues = std::map<std::string, SettingValue>;  // by JSON pointer

// `shown`: what may be seen of a value, by its pointer.
using ShownValue = std::function<std::string(const std::string& pointer, const json::value& value)>;

// Of a project's settings and, with "~" before the pointers, of the user's own.
SettingValues values_of(const LoadedSettings& loaded, const ShownValue& shown);

// The verify commands of a plan are no setting, but a project's commands as well: they stand beside them by this name.
inline constexpr std::string_view kVerifyCommands = "/plan/verifyCommands";
SettingValue verify_commands_value(const std::vector<std::string>& commands);

// The settings that name programs to run, their arguments and their environment, or say how they run.
bool names_commands(std::string_view pointer);
bool is_command(std::string_view pointer);  // of these, the ones that people call commands
bool has_commands(const SettingValues& values);

enum class Concern { kCommands, kOnlyCommands, kOnlySettings, kAll };  // kCommands: both of the next two

// "guardrails: [...], was [...]", one line for each setting that differs. How output looks is nobody's concern.
std::vector<std::string> differences(const SettingValues& then, const SettingValues& now, Concern concern);

struct TrustRecord {
  std::string project;
  std::string accepted_by, accepted_at;  // "ralph init", "ralph trust", ...; empty: never
  SettingValues accepted;                // commands only
  SettingValues seen;                    // when the last run began
  TrustMode mode = TrustMode::kAsk;      // then
  // The run that is at work, or was when it was last heard of. It stays here if the settings are no longer what they
  // were when it began: somebody changed them while an agent was running.
  std::string running;
  bool known = false;  // there was a run, or an acceptance

  bool is_accepted() const { return !accepted_by.empty(); }
  // Where there is no plan to look at, its verify commands are neither missed nor forgotten.
  bool accepts(const SettingValues& now) const;
  void accept(const SettingValues& now, std::string by, std::string at);
  // What was changed while an agent was running, and nobody has accepted since.
  std::vector<std::string> changed_under_agent(const SettingValues& now) const;
};

std::string trust_file(const Environment& environment, const std::string& project);  // empty: no state folder
// A record that can't be read counts as none: then a person is asked again.
TrustRecord load_trust(const Environment& environment, const std::string& project);
Status save_trust(const Environment& environment, const TrustRecord& record);

// Whether this user has accepted the project and its commands as they are now: only then may a hook, or a command that
// only looks, run a program that the project names. Runs nothing itself. `project`: absolute.
bool project_is_accepted(const Environment& environment, const std::string& project);

}  // namespace ralph
