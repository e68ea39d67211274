#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/registry.h"
#include "journal/redactor.h"
#include "os/environment.h"
#include "os/files.h"
#include "version.h"

namespace ralph::cli {
namespace {

int print(std::string_view text) {
  // A reader that closed the pipe early (`ralph --help | head`) is not an error.
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return 0;
  return report({ErrorKind::kIo, fmt::format("cannot write to standard output: {}", errno_text(errno))});
}

struct Found {
  const Command* command = nullptr;
  size_t words = 0;  // the number of words in its name
};

// `ralph -p x` is `ralph run -p x`: the default command.
Found find_command(std::span<const std::string> words) {
  if (words.empty() || words[0].starts_with('-')) return {&kRun, 0};
  for (const Command* command : all_commands()) {
    if (words.size() > 1 && command->name == words[0] + " " + words[1]) return {command, 2};
    if (command->name == words[0]) return {command, 1};
  }
  return {};
}

std::vector<const Command*> group_of(std::string_view word) {
  std::vector<const Command*> group;
  for (const Command* command : all_commands()) {
    if (command->name.starts_with(fmt::format("{} ", word))) group.push_back(command);
  }
  return group;
}

bool asks_for_help(std::span<const std::string> words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

// A group without its second word ("ralph runs"), a mistyped one, or an unknown command.
int explain_unknown(std::span<const std::string> words) {
  const std::vector<const Command*> group = group_of(words[0]);
  const bool wants_help = words.size() > 1 && asks_for_help(words.subspan(1));
  if (!group.empty() && wants_help) {
    for (const Command* command : group) {
      if (command->hidden) continue;
      const std::string name = fmt::format("ralph {}: ", command->name);
      print(fmt::format("{}{}\n", name, wrap_words(command->summary, 80, name.size(), 2)));
    }
    return 0;
  }
  std::vector<std::string_view> names;
  for (const Command* command : group.empty() ? std::vector(all_commands().begin(), all_commands().end()) : group) {
    if (!command->hidden) names.push_back(command->name);
  }
  if (group.empty()) {
    std::vector<std::string_view> firsts = names;
    for (std::string_view& name : firsts) name = name.substr(0, name.find(' '));
    const std::string_view near = nearest(words[0], firsts);
    return report({ErrorKind::kUsage, fmt::format("unknown command {}{}\n  ralph --help lists the commands", words[0],
                                                  near.empty() ? "" : fmt::format("; did you mean {}?", near))});
  }
  std::string message = fmt::format("ralph {} needs one more word", words[0]);
  if (words.size() > 1) {
    std::vector<std::string_view> seconds = names;
    for (std::string_view& name : seconds) name.remove_prefix(words[0].size() + 1);
    const std::string_view near = nearest(words[1], seconds);
    message = fmt::format("unknown command {} {}{}", words[0], words[1],
                          near.empty() ? "" : fmt::format("; did you mean {} {}?", words[0], near));
  }
  for (std::string_view name : names) message += fmt::format("\n  ralph {}", name);
  return report({ErrorKind::kUsage, std::move(message)});
}

// Hosts treat a hook's exit code 2 as a refusal. A hook called by an unknown name or with an unknown option must not
// block the agent.
int as_hook(std::span<const std::string> words, int code) {
  if (words.size() < 2 || words[0] != "hooks") return code;
  const bool for_people = is_one_of(words[1], {"install", "uninstall", "explain", "start-loop", "cancel-loop"});
  return for_people || code == 0 ? code : 1;
}

}  // namespace

std::span<const Command* const> all_commands() {
#define RALPH_COMMAND_ADDRESS(constant) &constant,
  static constexpr std::array kCommands = {RALPH_COMMANDS(RALPH_COMMAND_ADDRESS)};
#undef RALPH_COMMAND_ADDRESS
  return kCommands;
}

int report(const Error& error) {
  std::fflush(stdout);
  const Redactor redactor(Environment::of_this_process().as_lines());
  // A message may quote an agent's text.
  static_cast<void>(write_all(
      STDERR_FILENO, printable_lines(redactor.redact(fmt::format("ralph: {}\n", error.message))), "standard error"));
  return error.kind == ErrorKind::kInterrupted ? 130 : 2;
}

int dispatch(std::span<const std::string> words) {
  while (!words.empty() && words[0].starts_with("-C")) {
    const bool joined = words[0].size() > 2;
    if (!joined && words.size() < 2) return report({ErrorKind::kUsage, "-C needs a folder"});
    std::string folder = joined ? words[0].substr(words[0][2] == '=' ? 3 : 2) : words[1];
    if (!enter_directory(folder)) {
      return report({ErrorKind::kUsage, fmt::format("-C {}: {}", folder, errno_text(errno))});
    }
    words = words.subspan(joined ? 1 : 2);
  }
  if (!words.empty() && (words[0] == "--version" || words[0] == "-v")) return print("ralph " RALPH_VERSION "\n");
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h" || (words[0] == "help" && words.size() == 1))) {
    return print(overview(all_commands()));
  }
  if (!words.empty() && words[0] == "help") {
    words = words.subspan(1);
    const Found found = find_command(words);
    return found.command ? print(help_of(*found.command)) : explain_unknown(words);
  }
  const Found found = find_command(words);
  if (!found.command) return as_hook(words, explain_unknown(words));
  const std::span<const std::string> rest = words.subspan(found.words);
  if (asks_for_help(rest)) return print(help_of(*found.command));
  const auto arguments = parse_arguments(*found.command, rest);
  if (!arguments) return as_hook(words, report(arguments.error()));
  const Result<int> code = found.command->run(*arguments);
  return code ? *code : report(code.error());
}

}  // namespace ralph::cli
