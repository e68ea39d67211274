// The choices that `ralph init` writes to a settings file, from its dialogue or from flags.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "json/value.h"
#include "settings/project_scan.h"
#include "settings/settings.h"

namespace ralph::cli {

struct InitChoices {
  std::string agent;
  std::vector<std::string> flags;
  int maximum_iterations = Settings{}.maximum_iterations;
  std::string completion_response = Settings{}.completion_response;
  std::vector<GuardrailSettings> guardrails;
  std::optional<ScmSettings> scm;
  std::string model{};  // empty: not chosen
};

// Values that are not given are taken from the `existing` settings. Errors are of kind kUsage and name the option.
Result<InitChoices> choices_from_flags(const Arguments& arguments, std::span<const GuardrailSuggestion> suggestions,
                                       const json::object& existing = {});

// The settings file for these choices, with the defaults that `ralph init` always writes out. Other `existing` settings
// are kept, except those that describe another agent (its kind, its model).
json::object settings_document(const InitChoices& choices, const json::object& existing = {});

// Whether a settings file may have `value` at `pointer` (one or two keys, such as "/agent/flags"). The error is of kind
// kUsage and begins with `name`, if that is not empty.
Status check_setting(std::string_view pointer, json::value value, std::string_view name = {});

// The number that was typed, or the text itself if it is not a number, so that an error shows it as typed.
json::value number_or_text(std::string_view typed);

}  // namespace ralph::cli
