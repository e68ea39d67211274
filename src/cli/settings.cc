// ralph settings show: shows the effective settings with their sources. ralph settings schema: prints the schema, for
// editors.
#include "settings/settings.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/utf8.h"
#include "cli/accept.h"
#include "cli/masked_settings.h"
#include "cli/project.h"
#include "cli/registry.h"
#include "json/schema.h"
#include "settings/layers.h"

namespace ralph::cli {
namespace {

struct Row {
  std::string setting;
  std::string value;
  std::string source;
};

std::string shown(const json::value& value) {
  const json::string* text = value.if_string();
  std::string plain = text ? std::string(*text) : to_compact_json(value);
  if (value.is_double()) plain = fmt::format("{}", value.get_double());
  // Values are shown in full; only control characters are removed.
  return fit_to_width(plain, plain.size() * 2 + 1);
}

bool holds_objects(const json::value& value) {
  return value.is_array() && !value.get_array().empty() && value.get_array().front().is_object();
}

// One row per scalar and list; a list of objects is expanded.
void add_rows(const json::value& value, const std::string& pointer, const std::map<std::string, std::string>& sources,
              std::vector<Row>& rows) {
  if (value.is_object()) {
    for (const auto& member : value.get_object())
      add_rows(member.value(), child_pointer(pointer, member.key()), sources, rows);
  } else if (holds_objects(value)) {
    size_t index = 0;
    for (const json::value& item : value.get_array())
      add_rows(item, fmt::format("{}/{}", pointer, index++), sources, rows);
  } else {
    const auto source = sources.find(pointer);
    rows.push_back({readable_path(pointer), shown(value), source == sources.end() ? "default" : source->second});
  }
}

void print_padded(const std::string& text, size_t width) {
  const size_t used = display_width(text);
  fmt::print("{}{:{}}  ", text, "", width > used ? width - used : 0);
}

void print_table(const LoadedSettings& loaded) {
  std::map<std::string, std::string> sources;
  for (const Origin& origin : loaded.origins) sources[origin.pointer] = origin.source;
  std::vector<Row> rows = {{"SETTING", "VALUE", "FROM"}};
  add_rows(masked_settings(loaded.effective), "", sources, rows);

  constexpr size_t kWidestValue = 50;  // a longer one widens only its own row
  size_t settings = 0, values = 0;
  for (const Row& row : rows) {
    settings = std::max(settings, display_width(row.setting));
    if (display_width(row.value) <= kWidestValue) values = std::max(values, display_width(row.value));
  }
  for (const Row& row : rows) {
    print_padded(row.setting, settings);
    print_padded(row.value, values);
    fmt::print("{}\n", row.source);
  }
}

void print_settings_json(const LoadedSettings& loaded) {
  json::object origins;
  for (const Origin& origin : loaded.origins) origins[origin.pointer] = to_json_string(origin.source);
  json::object document;
  document["settings"] = masked_settings(loaded.effective);
  document["origins"] = std::move(origins);
  std::vector<std::string> files = loaded.files;
  if (!loaded.user_file.empty()) files.insert(files.begin(), loaded.user_file);
  document["files"] = to_json_array(files);
  fmt::print("{}", to_pretty_json(document));
}

Result<int> run_show(const Arguments& arguments) {
  TRY_VALUE(const Project project, enter_project());
  TRY_VALUE(const LoadedSettings loaded, load_settings("."));
  print_notes(loaded);
  if (arguments.has("json")) {
    print_settings_json(loaded);
    return 0;
  }
  print_table(loaded);
  if (project.folder != project.typed_in)
    fmt::print("\nThese are the settings of {}.\n", fit_to_width(project.folder, project.folder.size() * 2 + 1));
  if (loaded.files.empty()) fmt::print("\nThere is no {} here; ralph init creates one.\n", kSettingsFile);
  if (!loaded.files.empty() && loaded.settings.agent.command.empty())
    fmt::print("\nNo agent is set: put \"agent\": {{\"command\": \"claude\"}} into {}.\n", kSettingsFile);
  return 0;
}

Result<int> run_schema(const Arguments&) {
  const std::string_view schema = settings_schema();
  std::fwrite(schema.data(), 1, schema.size(), stdout);
  return 0;
}

constexpr Option kShowOptions[] = {{"json", 0, "", "Print JSON: settings, origins (by JSON pointer) and files."}};

}  // namespace

const Command kSettingsShow = {
    "settings show",
    "Show the settings in force here, and where each came from.",
    "Reads your own settings (~/.config/ralph/settings.json), .ralph/settings.json and .ralph/settings.local.json,\n"
    "checks them, merges them, and shows every value with its source. Values of agent.env that look like secrets\n"
    "are shown as ***.",
    "ralph settings show\n"
    "ralph settings show --json",
    kShowOptions,
    {},
    run_show,
};

const Command kSettingsSchema = {
    "settings schema",
    "Print the JSON Schema of the settings files.",
    "Prints the schema that settings files are checked against. Save it and refer to it as \"$schema\" in a settings\n"
    "file, so that editors can complete and explain the keys.",
    "ralph settings schema > .ralph/settings.schema.json",
    {},
    {},
    run_schema,
};

}  // namespace ralph::cli
