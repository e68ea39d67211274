#include "settings/settings.h"

#include "base/text.h"
#include "json/fields.h"
#include "os/files.h"
#include "settings/brief.h"
#include "settings/confined.h"
#include "settings/layers.h"
#include "settings/owner.h"
#include "settings/remembered.h"

namespace ralph {
namespace {

// If a higher layer or the command line names another agent, what lower layers say about theirs does not apply.
void forget_other_agent(json::object& merged, const json::object& upper) {
  const json::value* chosen = upper.if_contains("agent");
  json::value* agent = merged.if_contains("agent");
  const auto command = chosen ? find_string(*chosen, "command") : std::nullopt;
  if (!command || !agent || !agent->is_object() || find_string(*agent, "command") == command) return;
  json::object& members = agent->get_object();
  for (const std::string_view key : {"flags", "kind", "stream", "promptVia", "model", "env"}) members.erase(key);
}

// Each layer is valid by itself, so the merged document can only lack a required key. The error points to the topmost
// file that mentions the object without it.
Status check_merged(const json::value& merged, const std::vector<Layer>& layers) {
  if (layers.empty() && merged.get_object().empty()) return {};  // a test verifies that the schema accepts it
  TRY_VALUE(const auto problems, check_schema(parsed_settings_schema(), merged));
  if (problems.empty()) return {};
  const SchemaProblem& first = problems.front();
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (locate(layer->text, first.pointer)) return tl::unexpected(explain({first}, *layer));
  }
  return fail(ErrorKind::kUsage, "{}: {}", readable_path(first.pointer), first.message);
}

// The layers so far, from the lowest.
struct Reading {
  LoadedSettings loaded;
  std::vector<Layer> layers;
  std::string user_file;  // the user's settings, even if missing
};

Result<Reading> begin_with_own(const Environment& environment) {
  Reading reading;
  reading.user_file = user_settings_file(environment);
  if (reading.user_file.empty()) return reading;
  // `trustedFolders` can't vouch for its own file.
  TRY(expect_own(Owners::of_this_process(environment), parent_path(reading.user_file), base_name(reading.user_file)));
  TRY_VALUE(auto layer, read_user_layer(reading.user_file));
  if (!layer) return reading;
  reading.loaded.user_file = reading.user_file;
  reading.loaded.user = layer->values;
  reading.layers.push_back(*std::move(layer));
  return reading;
}

// Empty if the file is trusted or does not exist.
std::string reason_for_distrust(const std::string& project, std::string_view name, const Environment& environment) {
  std::string folder = project;
  if (project.empty() || project == ".") folder = current_directory().value_or(".");
  const std::string path = join_path(folder, name);
  if (!path_exists(path)) return {};
  if (std::string fault = owners_of(environment).fault(folder, name); !fault.empty()) return fault;
  if (name != kLocalSettingsFile || !came_with_repository(environment, folder, std::string(name))) return {};
  return fmt::format(
      "{} is tracked by git, so it may have come with a clone, and is not used: it is for one person on one machine; "
      "remove it from the repository (git rm --cached {}) and check what it says",
      path, name);
}

Status add_project(Reading& reading, const std::string& project, Distrusted distrusted,
                   const Environment& environment) {
  LoadedSettings& loaded = reading.loaded;
  for (const std::string_view name : {kSettingsFile, kLocalSettingsFile}) {
    const std::string fault = reason_for_distrust(project, name, environment);
    if (!fault.empty() && distrusted == Distrusted::kRefused) return fail(ErrorKind::kInput, "{}", fault);
    if (!fault.empty()) {
      loaded.notes.push_back(fault);
      continue;
    }
    TRY_VALUE(auto layer, read_layer(project, name));
    if (!layer) continue;
    TRY(refuse_known_names(*layer));
    for (std::string& line : confine(*layer, loaded.user, reading.user_file)) loaded.notes.push_back(std::move(line));
    loaded.files.push_back(layer->source);
    merge_into(loaded.project, layer->values);
    reading.layers.push_back(*std::move(layer));
  }
  return {};
}

enum class Detail { kAll, kSettings };

Result<LoadedSettings> finish_reading(Reading reading, const Overrides& overrides, Detail detail) {
  TRY(check_overrides(overrides));
  LoadedSettings& loaded = reading.loaded;
  json::object merged = loaded.user;
  forget_other_agent(merged, loaded.project);
  merge_into(merged, loaded.project);
  join_denied(merged, loaded.user);
  forget_other_agent(merged, overrides.values);
  merge_into(merged, overrides.values);
  TRY(check_merged(merged, reading.layers));
  if (detail == Detail::kSettings) {
    loaded.settings = from_json<Settings>(merged);
    return std::move(loaded);
  }
  loaded.effective = with_schema_defaults(parsed_settings_schema(), merged);
  loaded.settings = from_json<Settings>(loaded.effective);
  if (const auto flag = overrides.flags.find("/agent/command"); flag != overrides.flags.end())
    loaded.settings.agent.named_by = flag->second;
  loaded.origins = origins_of(loaded.effective, reading.layers, overrides);
  return std::move(loaded);
}

}  // namespace

void Overrides::set(const std::string& pointer, json::value value, std::string flag) {
  const std::vector<std::string> keys = split(pointer.substr(1), '/');
  json::value& first = values[keys[0]];
  if (keys.size() == 2 && !first.is_object()) first = json::object();
  (keys.size() == 2 ? first.get_object()[keys[1]] : first) = std::move(value);
  flags[pointer] = std::move(flag);
}

Result<LoadedSettings> load_settings(const std::string& project, const Overrides& overrides, Distrusted distrusted,
                                     const Environment& environment) {
  TRY_VALUE(Reading reading, begin_with_own(environment));
  TRY(add_project(reading, project, distrusted, environment));
  return finish_reading(std::move(reading), overrides, Detail::kAll);
}

Result<LoadedSettings> load_settings_briefly(const std::string& project, const Environment& environment) {
  TRY_VALUE(Reading reading, begin_with_own(environment));
  TRY(add_project(reading, project, Distrusted::kLeftOut, environment));
  return finish_reading(std::move(reading), {}, Detail::kSettings);
}

Result<LoadedSettings> load_own_settings_briefly(const Environment& environment) {
  TRY_VALUE(Reading reading, begin_with_own(environment));
  return finish_reading(std::move(reading), {}, Detail::kSettings);
}

std::map<std::string, std::string> secret_candidates(const Settings& settings) {
  std::map<std::string, std::string> variables = settings.agent.env;
  for (const auto& [name, agent] : settings.agents) {
    // Two agents may set the same variable to different values; both count.
    for (const auto& [variable, value] : agent.env) variables[fmt::format("{}_{}", name, variable)] = value;
  }
  return variables;
}

}  // namespace ralph
