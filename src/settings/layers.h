// Settings come in layers: files, then flags. This reads, checks and merges layers; settings.cc interprets the merged
// document.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/schema.h"
#include "json/value.h"
#include "settings/settings.h"

namespace ralph {

inline constexpr std::string_view kSettingsFile = ".ralph/settings.json";
inline constexpr std::string_view kLocalSettingsFile = ".ralph/settings.local.json";

// A settings file as read.
struct Layer {
  std::string source;  // ".ralph/settings.json", as shown in origins and `settings show`
  std::string path;    // for error messages
  std::string text;
  json::object values;
};

// Reads and checks one file below `project`; nullopt if it does not exist. A dangling link, a folder, a pipe or an
// unreadable file is an error.
Result<std::optional<Layer>> read_layer(const std::string& project, std::string_view name);

// The same for the user's own settings. `path` is absolute.
Result<std::optional<Layer>> read_user_layer(const std::string& path);

// The nearest folder with a settings file, from `folder` up to the root of its repository; `folder` itself if there is
// none, or no repository.
std::string folder_with_settings(const std::string& folder);

// Checks the command line flags like a layer; errors name the flag.
Status check_overrides(const Overrides& overrides);

// Merges `upper` into `lower`: objects are merged, everything else (including lists and null) is replaced.
void merge_into(json::object& lower, const json::object& upper);

// The source of every scalar and list in `effective`: the topmost layer that sets it, else "default".
std::vector<Origin> origins_of(const json::value& effective, const std::vector<Layer>& layers,
                               const Overrides& overrides);

// Checks what the schema cannot express: flags must be splittable, no string may contain a NUL.
std::vector<SchemaProblem> check_meaning(const json::value& document);

// One line per problem, in file order: "PATH:LINE:COLUMN: agent.flags[2]: expected ...".
Error explain(const std::vector<SchemaProblem>& problems, const Layer& layer);

const json::value& parsed_settings_schema();

}  // namespace ralph
