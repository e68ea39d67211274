// Settings come in layers: files, then flags. A layer is read and checked here by itself; layers are merged here; what
// the merged document means is settings.cc.
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

// A settings file as it was read. A layer of flags has no text.
struct Layer {
  std::string source;  // ".ralph/settings.json", as origins and `settings show` name it
  std::string path;    // as errors name it
  std::string text;
  json::object values;
};

// Reads and checks one file below `project`; nothing if it does not exist. A link to nowhere, a folder, a pipe or a
// file that may not be read is an error, not a missing file.
Result<std::optional<Layer>> read_layer(const std::string& project, std::string_view name);

// Checks the flags of the command line the same way; errors name the flag.
Status check_overrides(const Overrides& overrides);

// Merges `upper` into `lower`: objects merge, everything else (lists and null too) replaces.
void merge_into(json::object& lower, const json::object& upper);

// The source of every scalar and list of `effective`: the uppermost layer that has it, else "default".
std::vector<Origin> origins_of(const json::value& effective, const std::vector<Layer>& layers,
                               const Overrides& overrides);

// What the schema cannot say about a document that fits it: flags must be splittable, no string may hold a NUL.
std::vector<SchemaProblem> check_meaning(const json::value& document);

// One line per problem, in the order of the file: "PATH:LINE:COLUMN: agent.flags[2]: expected ...".
Error explain(const std::vector<SchemaProblem>& problems, const Layer& layer);

const json::value& parsed_settings_schema();

}  // namespace ralph
