// Splits the words of a command into options and operands, as most programs do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/lexer.h"

namespace ralph {

using Words = std::span<const ShellWord>;

std::vector<ShellWord> copy(Words words);
ShellWord joined(Words words);  // with blanks between them

bool is_option(std::string_view word);
bool is_assignment(const std::string& word);  // NAME=value for env and sudo, which accept any name

// How many words an option occupies: 1, or 2 if its value is the next word. `valued`: the letters that take a value;
// `valued_long`: the long names, separated by blanks.
size_t option_length(const std::string& word, std::string_view valued, std::string_view valued_long);

// The index of the first word from `at` on that is neither an option nor its value.
size_t skip_options(Words words, size_t at, std::string_view valued, std::string_view valued_long = {});

// The value of an option in any form: -c X, -cX, --command X, --command=X.
std::optional<ShellWord> option_value(Words words, std::string_view letter, std::string_view name);

}  // namespace ralph
