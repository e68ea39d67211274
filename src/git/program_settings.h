// The settings of a repository that only its user changes, in the text of a configuration file: those that make git run
// a program, or read further settings; in the repository's own file also those that say what kind of repository it is,
// hide changes, or say where a push goes. Pure: texts in, text out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ralph {

struct GitSetting {
  std::string name;           // "filter.Lfs.clean": section and key in lower case
  std::string written{};      // the same as it stands there: "core.hooksPath"
  std::string value{};        // without its quotes and escapes
  bool bare = false;          // without "=": it means true
  size_t begin = 0, end = 0;  // its bytes in the text: the whole line if it has one of its own
  size_t section = 0;         // where the line of its section's name begins
  size_t beside = 0;          // how many settings that section has there, this one included
  bool operator==(const GitSetting& other) const {
    return name == other.name && value == other.value && bare == other.bare;
  }
};

// Whether git, or a program of its family, runs what this setting names, or reads settings from there.
bool names_program(std::string_view name, std::string_view value);

// What of a file is watched.
struct SettingsScope {
  bool repository = false;             // it is a repository's own: not only what names a program
  std::vector<std::string> remotes{};  // the remotes that the user has; a new one is nobody's business
  bool users = false;                  // it is the user's: also what hides files from git
};

// Those settings, in the order of the text. nullopt: git would not read it either.
std::optional<std::vector<GitSetting>> program_settings(std::string_view text, const SettingsScope& scope = {});

// `now` with those settings as `before` has them; all others stay. Falls back to `before` if `now` can't be read.
std::string with_program_settings_of(std::string_view before, std::string_view now, const SettingsScope& scope = {});

// The last core.hooksPath; empty: there is none.
std::string hooks_path_in(std::string_view text);

}  // namespace ralph
