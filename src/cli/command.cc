#include "cli/command.h"

#include "base/text.h"

namespace ralph::cli {
namespace {

// The entry that --x or -x refers to.
struct Match {
  const Option* option = nullptr;
  bool negated = false;
};

Match find_long(const Command& command, std::string_view name) {
  for (const Option& option : command.options) {
    if (option.name == name) return {&option, false};
    if (option.negatable && name.starts_with("no-") && option.name == name.substr(3)) return {&option, true};
  }
  return {};
}

const Option* find_letter(const Command& command, char letter) {
  const auto found = std::find_if(command.options.begin(), command.options.end(),
                                  [&](const Option& option) { return option.letter == letter; });
  return letter && found != command.options.end() ? &*found : nullptr;
}

tl::unexpected<Error> usage_error(const Command& command, std::string_view message) {
  return fail(ErrorKind::kUsage, "{}\n  see ralph {} --help", message, command.name);
}

std::string did_you_mean(std::string_view near) {
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

tl::unexpected<Error> unknown_option(const Command& command, std::string_view word) {
  // -m is --max-iterations in some commands and --model in others. The error names both, and what this command has.
  if (word.starts_with("-m")) {
    return usage_error(command, fmt::format("-m is --max-iterations in run and init, and --model in plan and loop run; "
                                            "ralph {} knows {}",
                                            command.name,
                                            find_long(command, "max-iterations").option ? "--max-iterations (-n)"
                                            : find_long(command, "model").option        ? "--model"
                                                                                        : "neither"));
  }
  if (command.name == "task run" && word.starts_with("--resume"))
    return usage_error(command,
                       "a task needs no --resume: the same command continues it, and so does 'ralph runs resume'");
  std::vector<std::string> names{"--help"};
  for (const Option& option : command.options) {
    names.push_back(fmt::format("--{}", option.name));
    if (option.negatable) names.push_back(fmt::format("--no-{}", option.name));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  // "-json" is missing a dash; a single letter is too short to guess from.
  const std::string whole = word.starts_with("--") ? std::string(word) : fmt::format("-{}", word);
  const std::string_view near = word.size() > 2 ? nearest(whole, views) : std::string_view{};
  return usage_error(command, fmt::format("unknown option {}{}", word, did_you_mean(near)));
}

// An option's value in words, for a sentence: "a number" for N.
std::string in_words(const Option& option) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kWords = {{
      {"N", "a number"},
      {"D", "a time, such as 30s or 10m"},
      {"TIME", "a time, such as 30s or 10m"},
      {"P", "a project"},
      {"T", "a task"},
      {"USD", "an amount of dollars"},
      {"MB", "a number of megabytes"},
      {"BYTES", "a number of bytes"},
      {"DAYS", "a number of days"},
      {"SECONDS", "a number of seconds"},
      {"NAMES", "names, separated by commas"},
  }};
  if (!option.choices.empty()) return fmt::format("one of {}", option.choices);
  const auto* const found =
      std::find_if(kWords.begin(), kWords.end(), [&](const auto& one) { return one.first == option.value; });
  if (found != kWords.end()) return std::string(found->second);
  return fmt::format("{} {}", std::string_view("AEIOU").find(option.value[0]) == std::string_view::npos ? "a" : "an",
                     to_lower(option.value));
}

// An error message if the value is not among the choices; nullopt if it is, or if there are no choices.
std::optional<std::string> check_choice(std::string_view what, std::string_view choices, std::string_view value) {
  if (choices.empty()) return std::nullopt;
  const std::vector<std::string> allowed = split(choices, '|');
  if (std::any_of(allowed.begin(), allowed.end(), [&](const auto& one) { return equals_ignoring_case(one, value); })) {
    return std::nullopt;
  }
  const std::vector<std::string_view> views(allowed.begin(), allowed.end());
  return fmt::format("{}: \"{}\" is not one of {}{}", what, value, choices, did_you_mean(nearest(value, views)));
}

}  // namespace

bool Arguments::has(std::string_view option) const {
  return options_.find(option) != options_.end();
}

std::optional<std::string_view> Arguments::value(std::string_view option) const {
  const auto found = options_.find(option);
  if (found == options_.end()) return std::nullopt;
  return found->second.back();
}

Result<std::optional<long>> Arguments::count(std::string_view option) const {
  const auto text = value(option);
  if (!text) return std::nullopt;
  const auto count = parse_count(*text);
  if (!count) return fail(ErrorKind::kUsage, "--{} must be a positive number, not \"{}\"", option, *text);
  return *count;
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  const auto found = options_.find(option);
  return found == options_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<bool> Arguments::flag(std::string_view option) const {
  const auto text = value(option);
  if (!text) return std::nullopt;
  return *text == "true";
}

std::vector<std::string> Arguments::given() const {
  std::vector<std::string> names;
  for (const auto& [name, values] : options_) names.push_back(name);
  return names;
}

void Arguments::add(const Arguments& later) {
  for (const auto& [name, values] : later.options_) options_[name] = values;
  if (!later.positionals_.empty()) positionals_ = later.positionals_;
}

tl::unexpected<Error> no_such(std::string_view what, std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(name, views);
  return fail(ErrorKind::kUsage, "{} is called '{}'{}; there are: {}", what, name,
              near.empty() ? "" : fmt::format(", did you mean '{}'?", near), join(names, " "));
}

Result<Arguments> parse_arguments(const Command& command, std::span<const std::string> words) {
  Arguments result;
  result.words_.assign(words.begin(), words.end());
  bool complete = false;  // an option was given that replaces the required positionals
  const auto take = [&](const Option& option, std::string_view shown, std::string value) -> Status {
    if (auto wrong = check_choice(shown, option.choices, value)) return usage_error(command, *wrong);
    auto& values = result.options_[std::string(option.name)];
    if (!values.empty() && !option.repeatable && !option.value.empty()) {
      return usage_error(command, fmt::format("{} is given twice", shown));
    }
    values.push_back(std::move(value));
    return {};
  };

  bool only_positionals = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool rest = !command.positionals.empty() && command.positionals.back().rest &&
                      result.positionals_.size() + 1 >= command.positionals.size() && !result.positionals_.empty();
    if (only_positionals || rest || word.size() < 2 || word[0] != '-') {
      result.positionals_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_positionals = true;
      continue;
    }
    const size_t equals = word.find('=');
    std::string shown = word.substr(0, equals);
    Match match;
    std::optional<std::string> value;
    if (word.starts_with("--")) {
      match = find_long(command, std::string_view(shown).substr(2));
      if (equals != std::string::npos) value = word.substr(equals + 1);
    } else {
      match.option = find_letter(command, word[1]);
      // -m5 and -m=5 both mean 5. Letters without a value may be combined: -Vj.
      if (match.option && word.size() > 2) {
        if (!match.option->value.empty()) {
          value = word.substr(word[2] == '=' ? 3 : 2);
          shown.resize(2);
        } else {
          for (const char letter : word.substr(1)) {
            const Option* option = find_letter(command, letter);
            if (!option || !option->value.empty()) return unknown_option(command, word);
            TRY(take(*option, fmt::format("-{}", letter), "true"));
          }
          continue;
        }
      }
    }
    if (!match.option) return unknown_option(command, shown);
    if (match.option->value.empty()) {
      if (value) return usage_error(command, fmt::format("{} takes no value", shown));
      TRY(take(*match.option, shown, match.negated ? "false" : "true"));
      continue;
    }
    complete = complete || match.option->optional_value;
    if (!value && match.option->optional_value) value = "";
    if (!value) {
      if (i + 1 >= words.size())
        return usage_error(command, fmt::format("{} needs {}", shown, in_words(*match.option)));
      value = words[++i];
    }
    TRY(take(*match.option, shown, *std::move(value)));
  }

  const size_t most = command.positionals.size();
  const bool open_ended = most > 0 && command.positionals.back().rest;
  if (result.positionals_.size() > most && !open_ended) {
    return usage_error(
        command, fmt::format("unexpected word \"{}\"{}", result.positionals_[most],
                             most == 0 || !is_listed("PROMPT TASK", command.positionals[most - 1].name)
                                 ? ""
                                 : fmt::format("; quote a {} of several words", command.positionals[most - 1].name)));
  }
  for (size_t i = 0; i < most; ++i) {
    const Positional& positional = command.positionals[i];
    if (i >= result.positionals_.size()) {
      if (positional.required && !complete)
        return usage_error(command, fmt::format("{} is missing: {}", positional.name, positional.help));
    } else if (auto wrong = check_choice(positional.name, positional.choices, result.positionals_[i])) {
      return usage_error(command, *wrong);
    }
  }
  return result;
}

}  // namespace ralph::cli
