// The dialogue of `ralph init`: the questions of seed 001, in its order and words.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/init_choices.h"
#include "cli/questions.h"

namespace ralph::cli {

// Asks everything. An answer that cannot stand in a settings file is explained and asked for again.
Result<InitChoices> ask_for_choices(Questions& questions, std::span<const GuardrailSuggestion> suggestions);

// The parts between commas, trimmed, without empty ones. A comma inside quotes or brackets belongs to its part:
// `--allowedTools="Edit,Bash(make:*)"` is one flag.
std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace ralph::cli
