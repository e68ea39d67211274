#include "settings/trust.h"

#include <algorithm>
#include <array>

#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/fields.h"
#include "json/schema.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr int kVersionOfTrust = 1;
constexpr size_t kShownWidth = 160;

void collect(const json::value& value, const std::string& pointer, const ShownValue& shown, SettingValues& values) {
  if (const json::object* object = value.if_object()) {
    for (const auto& member : *object) collect(member.value(), child_pointer(pointer, member.key()), shown, values);
    return;
  }
  values[pointer] = {sha256_hex(to_compact_json(value)), shown(pointer, value)};
}

SettingValues commands_of(const SettingValues& values) {
  SettingValues commands;
  for (const auto& [pointer, value] : values) {
    if (names_commands(pointer)) commands.emplace(pointer, value);
  }
  return commands;
}

}  // namespace

SettingValues values_of(const LoadedSettings& loaded, const ShownValue& shown) {
  SettingValues values;
  collect(loaded.project, "", shown, values);
  collect(loaded.user, "~", shown, values);
  return values;
}

SettingValue verify_commands_value(const std::vector<std::string>& commands) {
  const std::string text = to_compact_json(to_json_array(commands));
  return {sha256_hex(text), text};
}

bool names_commands(std::string_view pointer) {
  // Never true for the user's own settings, whose pointers begin with ~.
  return starts_with_any(pointer, {"/agent/command", "/agent/flags", "/agent/env", "/agent/fallback", "/agent/kind",
                                   "/agents/", "/guardrails", "/scm", "/plan/agents/", "/plan/cleanRoom",
                                   kVerifyCommands, "/diagnostics", "/lsp", "/task", "/sandbox"});
}

bool is_command(std::string_view pointer) {
  if (!names_commands(pointer)) return false;
  if (pointer.starts_with("/plan/agents/") || pointer == kVerifyCommands) return true;
  const std::string_view last = pointer.substr(pointer.rfind('/') + 1);
  return is_one_of(last, std::array<std::string_view, 8>{"agent", "collectors", "command", "fallback", "flags",
                                                         "guardrails", "setup", "tasks"});
}

bool has_commands(const SettingValues& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& value) { return names_commands(value.first); });
}

std::vector<std::string> differences(const SettingValues& then, const SettingValues& now, Concern concern) {
  SettingValues all = then;
  all.insert(now.begin(), now.end());
  const auto text = [](const SettingValues& values, const std::string& pointer) {
    const auto found = values.find(pointer);
    return found == values.end() ? std::string("not set") : found->second.shown;
  };
  const auto hash = [](const SettingValues& values, const std::string& pointer) {
    const auto found = values.find(pointer);
    return found == values.end() ? std::string() : found->second.hash;
  };
  std::vector<std::string> lines;
  for (const auto& [pointer, value] : all) {
    if (concern != Concern::kAll && !names_commands(pointer)) continue;
    if (concern == Concern::kOnlyCommands && !is_command(pointer)) continue;
    if (concern == Concern::kOnlySettings && is_command(pointer)) continue;
    if (starts_with_any(pointer, {"/output/", "~/output/"}) || hash(then, pointer) == hash(now, pointer)) continue;
    const bool own = pointer.starts_with('~');
    const Excerpts shown = fit_difference(text(now, pointer), text(then, pointer), kShownWidth);
    lines.push_back(fmt::format("{}{}: {}, was {}", own ? "your own settings: " : "",
                                readable_path(std::string_view(pointer).substr(own ? 1 : 0)), shown.one, shown.other));
  }
  return lines;
}

bool TrustRecord::accepts(const SettingValues& now) const {
  SettingValues then = accepted;
  const std::string verify(kVerifyCommands);
  if (!now.contains(verify)) then.erase(verify);
  return is_accepted() && differences(then, commands_of(now), Concern::kCommands).empty();
}

void TrustRecord::accept(const SettingValues& now, std::string by, std::string at) {
  const std::string verify(kVerifyCommands);
  const auto known_before = accepted.find(verify);
  SettingValues commands = commands_of(now);
  if (known_before != accepted.end()) commands.insert(*known_before);  // unless `now` has some
  accepted = std::move(commands);
  seen = now;
  accepted_by = std::move(by);
  accepted_at = std::move(at);
  running.clear();
  known = true;
}

std::vector<std::string> TrustRecord::changed_under_agent(const SettingValues& now) const {
  if (running.empty()) return {};
  SettingValues then = seen, is = now;
  for (SettingValues* values : {&then, &is}) values->erase(std::string(kVerifyCommands));  // agents may add some
  return differences(then, is, Concern::kAll);
}

std::string trust_file(const Environment& environment, const std::string& project) {
  const std::string folder = project_state_folder(environment, project);
  return folder.empty() ? "" : join_path(folder, "trust.json");
}

TrustRecord load_trust(const Environment& environment, const std::string& project) {
  TrustRecord record;
  record.project = project;
  const std::string path = trust_file(environment, project);
  if (path.empty() || !is_real_file(path)) return record;
  const auto text = read_file(path);
  const auto value = text ? parse_json(*text, path) : Result<json::value>(json::value());
  if (!value || find_integer(*value, "v") != kVersionOfTrust) return record;
  record = from_json<TrustRecord>(*value);
  record.project = project;
  record.known = true;
  return record;
}

Status save_trust(const Environment& environment, const TrustRecord& record) {
  const std::string path = trust_file(environment, record.project);
  if (path.empty()) {
    return fail(ErrorKind::kInput,
                "neither XDG_STATE_HOME nor HOME is set; what you accept is kept outside the project: set one of them "
                "to an absolute path");
  }
  TRY(make_directories(parent_path(path)));
  const json::object object = json_from(record, {{"v", kVersionOfTrust}});
  return write_file_atomically(path, to_pretty_json(object), 0600);
}

bool is_trusted_by_environment(const Environment& environment) {
  const std::string value = environment.get("RALPH_TRUST").value_or("");
  return !value.empty() && value != "0" && value != "false";
}

bool project_is_accepted(const Environment& environment, const std::string& project) {
  const TrustRecord record = load_trust(environment, project);
  if (!record.is_accepted()) return false;
  const auto loaded = load_settings(project, {}, Distrusted::kLeftOut, environment);
  if (!loaded) return false;
  return record.accepts(values_of(*loaded, [](const std::string&, const json::value&) { return std::string(); }));
}

}  // namespace ralph
