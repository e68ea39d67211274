// The words of a command line, read as options and the rest, as most programs read theirs.
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

bool is_option(const std::string& word);
bool is_assignment(const std::string& word);  // NAME=value for env and sudo, which take any name

// How many words an option takes: 1, or 2 with its value in the next. `valued` are the letters that take one,
// `valued_long` the long names, separated by blanks.
size_t option_length(const std::string& word, std::string_view valued, std::string_view valued_long);

// The place of the first word from `at` on that is no option and no value of one.
size_t skip_options(Words words, size_t at, std::string_view valued, std::string_view valued_long = {});

// The word after an option, however it is written: -c X, -cX, --command X, --command=X.
std::optional<ShellWord> option_value(Words words, std::string_view letter, std::string_view name);

}  // namespace ralph
