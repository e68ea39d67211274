// A command as data: its name, options, help and function. Help, completion, parsing and the errors for mistyped words
// are all derived from this entry.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph::cli {

struct Option {
  std::string_view name;        // "prompt-file", without dashes
  char letter = 0;              // 'f', or 0
  std::string_view value;       // "FILE"; empty for a switch that takes no value
  std::string_view help;        // one line
  bool negatable = false;       // a switch that also exists as --no-<name>
  bool repeatable = false;      // may be given several times
  std::string_view choices{};   // "APPEND|PREPEND|REPLACE": the only values accepted (any case), and completed
  bool optional_value = false;  // --x or --x=VALUE; required positionals may then be left out
  // Words that completion offers, separated by blanks. The value is a comma-separated list of such words.
  std::string (*suggestions)() = nullptr;
  bool on_resume = false;  // may be changed when a run is resumed; other options may not
};

constexpr Option on_resume(Option option) {
  option.on_resume = true;
  return option;
}

// Concatenates several lists of options.
template <size_t... N>
constexpr auto joined(const std::array<Option, N>&... lists) {
  std::array<Option, (N + ...)> all{};
  Option* end = all.data();
  ((end = std::copy(lists.begin(), lists.end(), end)), ...);
  return all;
}

struct Positional {
  std::string_view name;  // "RUN"
  std::string_view help;
  bool required = false;
  bool rest = false;           // takes all remaining words
  std::string_view choices{};  // "bash|zsh|fish"
};

class Arguments;

struct Command {
  std::string_view name;     // "run", or two words: "runs list"
  std::string_view summary;  // one line in the list of commands
  std::string_view details;  // paragraphs for --help
  std::string_view examples;
  std::span<const Option> options;
  std::span<const Positional> positionals;
  Result<int> (*run)(const Arguments&);  // returns the exit code; dispatch() reports an error
  bool hidden = false;                   // for ralph's own use; not listed
};

// What was typed, checked against the command's entry.
class Arguments {
 public:
  bool has(std::string_view option) const;                               // --x, or its negation, was given
  std::optional<std::string_view> value(std::string_view option) const;  // the last one given
  std::vector<std::string> values(std::string_view option) const;        // all of them
  std::optional<bool> flag(std::string_view option) const;               // --x: true, --no-x: false, neither: nullopt
  Result<std::optional<long>> count(std::string_view option) const;      // its value, which must be a positive number
  std::span<const std::string> positionals() const { return positionals_; }
  std::span<const std::string> words() const { return words_; }  // as typed
  std::vector<std::string> given() const;                        // the names of the options that were given

  // Adds arguments that were typed later. Their options replace those of the same name; their positionals, all.
  void add(const Arguments& later);

 private:
  friend Result<Arguments> parse_arguments(const Command&, std::span<const std::string>);
  std::map<std::string, std::vector<std::string>, std::less<>> options_;
  std::vector<std::string> positionals_, words_;
};

// Errors are of kind kUsage and give the word, the nearest valid one, and where to read more.
Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> words);

// `what`: "no collector". The message is "no collector is called 'ruf', did you mean 'ruff'?; there are: ruff mypy"
tl::unexpected<Error> no_such(std::string_view what, std::string_view name, const std::vector<std::string>& names);

std::string help_of(const Command& command);
std::string overview(std::span<const Command* const> commands);

// Every command, in the order in which help lists them.
std::span<const Command* const> all_commands();

// Runs the command given by the words of a command line and returns its exit code.
int dispatch(std::span<const std::string> words);

// Prints the error as "ralph: ..." on stderr and returns the exit code of its kind. No other function maps them.
int report(const Error& error);

}  // namespace ralph::cli
