// What `ralph init` has to know before it can write a settings file: typed in a dialogue, or given as flags.
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
};

// The options of `ralph init` that answer its questions. If any is given, nothing is asked.
std::span<const std::string_view> answering_options();

// Errors are of kind kUsage and name the option.
Result<InitChoices> choices_from_flags(const Arguments& arguments, std::span<const GuardrailSuggestion> suggestions);

// The settings file for these choices, with the defaults that seed 001 writes out.
json::object settings_document(const InitChoices& choices);

// Whether `value` may stand at `pointer` (one or two keys, such as "/agent/flags") of a settings file. The error is of
// kind kUsage and begins with `name`, if it is not empty.
Status check_setting(std::string_view pointer, json::value value, std::string_view name = {});

// What was typed for a number: the number itself, or the text if it is none, so that an error shows it as it was meant.
json::value number_or_text(std::string_view typed);

}  // namespace ralph::cli
