// The dialogue of `ralph init`: its questions, with fixed order and wording.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/init_choices.h"
#include "cli/questions.h"

namespace ralph::cli {

// Asks every question. If an answer is not valid in a settings file, explains why and asks again.
Result<InitChoices> ask_for_choices(Questions& questions, std::span<const GuardrailSuggestion> suggestions);

// Splits at commas, trims the parts and drops empty ones. A comma inside quotes or brackets does not split:
// `--allowedTools="Edit,Bash(make:*)"` is one flag.
std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace ralph::cli
