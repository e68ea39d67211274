// ralph trust: shows, accepts and revokes the commands of this project.
#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/accept.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "json/edit.h"
#include "json/schema.h"
#include "os/clock.h"
#include "os/files.h"
#include "plan/plan_files.h"
#include "plan/stories.h"
#include "settings/layers.h"
#include "settings/owner.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"list", 0, "", "Only show what is accepted and what is not."},
    Option{"revoke", 0, "", "Forget what was accepted here: hooks then run nothing, and the next run asks."},
    Option{"owner", 0, "FOLDER", "Trust the files of this project even though they belong to another user."},
    Option{"json", 0, "", "Print JSON."},
};

json::object trust_to_json(const TrustRecord& record, const SettingValues& now) {
  json::object commands;
  for (const auto& [pointer, value] : now) {
    if (names_commands(pointer)) commands[to_json_string(pointer)] = to_json_string(value.shown);
  }
  json::object object;
  object["project"] = to_json_string(record.project);
  object["accepted"] = record.accepts(now);
  object["acceptedBy"] = record.is_accepted() ? json::value(to_json_string(record.accepted_by)) : json::value();
  object["acceptedAt"] = record.is_accepted() ? json::value(to_json_string(record.accepted_at)) : json::value();
  object["commands"] = std::move(commands);
  object["changed"] = to_json_array(record.is_accepted() ? differences(record.accepted, now, Concern::kCommands)
                                                         : std::vector<std::string>());
  object["changedUnderAgent"] = to_json_array(record.changed_under_agent(now));
  return object;
}

void print_trust(const TrustRecord& record, const SettingValues& now) {
  const NamedCommands named = describe_commands(now);
  std::string text = printable_lines(record.project + "\n");
  for (const std::string& line : named.commands) text += printable_lines(fmt::format("  {}\n", line));
  if (named.commands.empty()) text += "  Its settings name no commands.\n";
  for (const std::string& line : named.settings) text += printable_lines(fmt::format("  with the setting {}\n", line));
  for (const std::string& line : record.changed_under_agent(now))
    text += printable_lines(fmt::format("Changed while an agent was running: {}\n", line));
  if (record.accepts(now)) {
    text += printable_lines(fmt::format("Accepted by {} on {}.\n", record.accepted_by, record.accepted_at));
  } else if (record.is_accepted()) {
    for (const std::string& line : differences(record.accepted, now, Concern::kCommands))
      text += printable_lines(fmt::format("Changed since you accepted them: {}\n", line));
    text += "'ralph trust' accepts them as they are now.\n";
  } else {
    text += "Not accepted; 'ralph trust' accepts them.\n";
  }
  fmt::print("{}", text);
}

// Adds the folder to `trustedFolders` in the user's own settings, and leaves the rest of the file as it is.
Result<int> trust_owner(const Environment& environment, std::string_view typed) {
  if (typed.empty()) return fail(ErrorKind::kUsage, "--owner is empty; give the project's folder");
  TRY_VALUE(const std::string here, current_directory());
  const std::string folder = real_path(absolute_path(typed, here));
  if (!is_directory(folder)) return fail(ErrorKind::kInput, "{} is not a folder", folder);
  const std::string path = user_settings_file(environment);
  if (path.empty())
    return fail(ErrorKind::kInput, "neither XDG_CONFIG_HOME nor HOME is set; set one of them to an absolute path");
  TRY_VALUE(const auto layer, read_user_layer(path));
  const std::string text = layer ? layer->text : "{}\n";
  TRY_VALUE(JsonEdits edits, JsonEdits::of(text, path));
  const json::value* folders = layer ? layer->values.if_contains("trustedFolders") : nullptr;
  const json::array known = folders ? folders->as_array() : json::array();
  if (std::find(known.begin(), known.end(), json::value(to_json_string(folder))) == known.end()) {
    const bool edited = folders ? edits.insert("/trustedFolders", known.size(), to_json_string(folder))
                                : edits.set("/trustedFolders", json::array{to_json_string(folder)});
    if (!edited) return fail(ErrorKind::kInternal, "cannot add {} to {}", folder, path);
    TRY(make_directories(parent_path(path)));
    TRY(write_file_atomically(path, edits.apply(), 0600));
  }
  fmt::print("{}", printable_lines(fmt::format(
                       "The files in {} are trusted, whoever owns them (trustedFolders in {}).\n", folder, path)));
  return 0;
}

// The verify commands of the plan in `folder`.
std::vector<std::string> verify_commands_in(const std::string& folder) {
  const auto text = read_plain_file(join_path(folder, kTasksFile));
  const auto tasks = text ? read_tasks(*text, "").tasks : std::nullopt;
  return tasks ? tasks->verify_commands : std::vector<std::string>();
}

Result<int> trust(const Arguments& arguments) {
  const Environment environment = Environment::of_this_process();
  const bool only_looks = arguments.has("list");
  if (!only_looks) TRY(refuse_agents(environment, "ralph trust"));
  if (const auto folder = arguments.value("owner")) return trust_owner(environment, *folder);
  if (only_looks && arguments.has("revoke"))
    return fail(ErrorKind::kUsage, "--list and --revoke are both given; choose one");
  TRY_VALUE(const Project project, enter_project());
  TRY_VALUE(const LoadedSettings loaded, load_settings(project.folder));
  print_notes(loaded);
  SettingValues now = shown_values(loaded);
  if (const auto commands = verify_commands_in(join_path(project.folder, "ralph")); !commands.empty())
    now.emplace(kVerifyCommands, verify_commands_value(commands));
  TrustRecord record = load_trust(environment, project.folder);
  if (arguments.has("revoke")) {
    record.accepted_by.clear();
    record.accepted_at.clear();
    record.accepted.clear();
    record.seen.clear();
    if (record.known) TRY(save_trust(environment, record));
  } else if (!only_looks) {
    record.accept(now, "ralph trust", to_iso8601(SystemClock().wall()));
    record.mode = loaded.settings.trust;
    TRY(save_trust(environment, record));
  }
  if (arguments.has("json")) {
    fmt::print("{}", to_pretty_json(trust_to_json(record, now)));
  } else {
    print_trust(record, now);
  }
  return 0;
}

}  // namespace

const Command kTrust = {
    "trust",
    "Accept this project's commands, show which are accepted, or revoke acceptance.",
    R"(Shows the commands that the project names (agent, guardrails, source control, verify commands of its plan) with
the settings that control how they run (environment, task limits, sandbox, diagnostics), and accepts them as they are
now. Until then, hooks and read-only commands run nothing that the project names. Settings written by `ralph init` are
already accepted; in a terminal, `ralph run` asks the first time. An agent that ralph runs can't accept anything.

--trust, or RALPH_TRUST=1, accepts them for one run. `trust` in your own settings (~/.config/ralph/settings.json) is
"ask", "require" or "off"; docs/formats/settings.md says what they mean.)",
    R"(ralph trust
       ralph trust --list --json
       ralph trust --revoke
       ralph trust --owner /srv/shared/app)",
    kOptions,
    {},
    trust,
};

}  // namespace ralph::cli
