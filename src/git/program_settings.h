// The settings of a repository that only its user changes, in the text of a configuration file: those that make git run
// a program or read further settings. In the repository's own file also those that define the kind of repository, hide
// changes, or decide where a push goes. Pure: texts in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct GitSetting {
  std::string name;           // "filter.Lfs.clean": section and key in lower case
  std::string written{};      // the same as written in the file: "core.hooksPath"
  std::string value{};        // without quotes and escapes
  bool bare = false;          // without "=": it means true
  size_t begin = 0, end = 0;  // its bytes in the text: the whole line if nothing else is on it
  size_t section = 0;         // where the line with its section's name begins
  size_t section_size = 0;    // how many settings its section has
  bool operator==(const GitSetting& other) const {
    return name == other.name && value == other.value && bare == other.bare;
  }
};

// Whether git, or a related program, runs what this setting names, or reads settings from there.
bool names_program(std::string_view name, std::string_view value);

// Which settings of a file are watched.
struct SettingsScope {
  bool repository = false;             // a repository's own file: not only settings that name a program
  std::vector<std::string> remotes{};  // the user's remotes; new ones are ignored
  bool users = false;                  // the user's file: also settings that hide files from git
};

// The watched settings, in the order of the text. nullopt: git could not read it either.
std::optional<std::vector<GitSetting>> program_settings(std::string_view text, const SettingsScope& scope = {});

// `now` with the watched settings as in `before`; all others stay. Falls back to `before` if `now` can't be read.
std::string with_program_settings_of(std::string_view before, std::string_view now, const SettingsScope& scope = {});

}  // namespace ralph
