// Generates the texts of --help from the commands' entries, which need no line breaks: every line is wrapped to 80
// columns.
#include "base/text.h"
#include "base/utf8.h"
#include "cli/command.h"

namespace ralph::cli {
namespace {

constexpr size_t kColumns = 80, kWidestLabel = 30;

std::string wrapped(std::string_view text, size_t used, size_t indent) {
  return wrap_words(text, kColumns, used, indent);
}

// Paragraphs are separated by an empty line; single line breaks have no meaning.
std::string paragraphs(std::string_view text) {
  std::string out, one;
  const auto end = [&] {
    if (!one.empty()) out += fmt::format("{}{}\n", out.empty() ? "" : "\n", wrapped(one, 0, 0));
    one.clear();
  };
  for (const std::string& line : split(trim(text), '\n')) {
    if (trim(line).empty()) {
      end();
    } else {
      one += line + "\n";
    }
  }
  end();
  return out;
}

// "  --label VALUE   What it is." A label that is too wide gets its own line.
std::string entry(std::string_view label, size_t width, std::string_view help) {
  const std::string begin = fmt::format("  {:<{}}  ", label, width);
  const bool fits = display_width(begin) == width + 4;
  return fmt::format("{}{}\n", fits ? begin : fmt::format("  {}\n{}", label, std::string(width + 4, ' ')),
                     wrapped(help, width + 4, width + 4));
}

// Continues a long command line after a backslash, broken only outside of quotes.
std::string example(std::string_view line) {
  std::string text = "  ";
  size_t column = 2, begin = 0;
  char quote = 0;
  for (size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && (quote != 0 ? line[i] == quote : line[i] == '\'' || line[i] == '"'))
      quote = quote != 0 ? 0 : line[i];
    if (i < line.size() && (line[i] != ' ' || quote != 0)) continue;
    const std::string_view word = line.substr(begin, i - begin);
    const size_t width = display_width(word), after = i < line.size() ? 2 : 0;
    if (begin > 0 && column + 1 + width + after > kColumns) {
      text += " \\\n      ";
      column = 6;
    } else if (begin > 0) {
      text += ' ', ++column;
    }
    text += word;
    column += width;
    begin = i + 1;
  }
  return text + "\n";
}

std::string label_of(const Option& option) {
  std::string label = option.letter ? fmt::format("-{}, ", option.letter) : "    ";
  label += fmt::format("--{}{}", option.negatable ? "[no-]" : "", option.name);
  if (option.optional_value) return fmt::format("{}[={}]", label, option.value);
  return option.value.empty() ? label : fmt::format("{} {}", label, option.value);
}

// Adds the accepted values to the help.
std::string with_choices(std::string_view help, std::string_view choices) {
  return choices.empty() ? std::string(help) : fmt::format("{} One of {}.", help, replace_all(choices, "|", ", "));
}

std::string explained(const Option& option) {
  const bool are_shown = option.value == option.choices;  // the label already lists them
  return with_choices(option.help, are_shown ? "" : option.choices) + (option.repeatable ? " Repeatable." : "");
}

// The heading of a command in the overview, by its first word.
std::string_view heading_of(const Command& command) {
  const std::string_view first = command.name.substr(0, command.name.find(' '));
  if (first == "run" || first == "init") return "Commands";
  if (first == "plan") return "Plans (stories with enforced reviews)";
  if (first == "loop") return "Loops inside a host agent's session";
  if (first == "hooks") return "Hooks for host agents";
  return "Tasks, runs and tools";
}

}  // namespace

std::string help_of(const Command& command) {
  std::string usage = fmt::format("Usage: ralph {}", command.name);
  if (!command.options.empty()) usage += " [options]";
  for (const Positional& positional : command.positionals) {
    // A command may have its own options, so it comes after --.
    const bool is_command = positional.rest && positional.name == "COMMAND";
    const std::string name =
        fmt::format("{}{}{}", is_command ? "-- " : "", positional.name, positional.rest ? "..." : "");
    usage += positional.required ? " " + name : " [" + name + "]";
  }
  std::string help = fmt::format("{}\n\n{}\n", wrapped(command.summary, 0, 0), wrapped(usage, 0, 7));
  if (!command.details.empty()) help += fmt::format("\n{}", paragraphs(command.details));
  size_t width = std::string_view("    --help").size();
  for (const Option& option : command.options) width = std::max(width, label_of(option).size());
  for (const Positional& positional : command.positionals) width = std::max(width, positional.name.size());
  width = std::min(width, kWidestLabel);
  if (!command.positionals.empty()) help += "\nArguments:\n";
  for (const Positional& positional : command.positionals)
    help += entry(positional.name, width, with_choices(positional.help, positional.choices));
  help += "\nOptions:\n";
  for (const Option& option : command.options) help += entry(label_of(option), width, explained(option));
  help += entry("-h, --help", width, "Show this help.");
  if (!command.examples.empty()) {
    help += "\nExamples:\n";
    for (const std::string& line : split(trim(command.examples), '\n')) help += example(trim(line));
  }
  return help;
}

std::string overview(std::span<const Command* const> commands) {
  std::string text =
      "ralph keeps a coding agent working until the work is provably done.\n\n"
      "Usage: ralph [-C DIR] <command> [options]\n";
  size_t width = 0;
  std::vector<std::string_view> headings;
  for (const Command* command : commands) {
    if (command->hidden) continue;
    width = std::max(width, command->name.size());
    if (std::find(headings.begin(), headings.end(), heading_of(*command)) == headings.end())
      headings.push_back(heading_of(*command));
  }
  for (const std::string_view heading : headings) {
    text += fmt::format("\n{}:\n", heading);
    for (const Command* command : commands) {
      if (command->hidden || heading_of(*command) != heading) continue;
      text += entry(command->name, width, command->summary);
    }
  }
  text +=
      "\nOptions:\n"
      "  -C DIR         Work in DIR.\n"
      "  -v, --version  Print the version.\n"
      "  -h, --help     Show this help; 'ralph <command> --help' explains a command.\n"
      "\nStart here:\n"
      "  ralph demo              see a complete loop, no account needed\n"
      "  ralph init              write settings for this project\n"
      "  ralph run -f PROMPT.md  let the agent work on that prompt, or:\n"
      "  ralph run -p 'Make the tests pass, then answer <response>DONE</response>'\n";
  return text;
}

}  // namespace ralph::cli
