// ralph hooks explain: how `ralph hooks pre-tool` reads a command, and what it would reply.
#include <array>
#include <unistd.h>

#include "cli/policy_setup.h"
#include "cli/registry.h"
#include "json/value.h"
#include "os/files.h"
#include "session/loop_store.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{.name = "json", .letter = 0, .value = {}, .help = "Print one JSON object."},
};
constexpr std::array kPositionals = {
    Positional{.name = "COMMAND", .help = "The command line, as one argument.", .required = true},
};

std::string as_json(const CommandReport& report, const PolicySetup& setup) {
  json::array commands;
  for (size_t i = 0; i < report.reading.commands.size(); ++i) {
    const ShellCommand& command = report.reading.commands[i];
    json::array words;
    for (const ShellWord& word : command.words) words.push_back(to_json_string(readable(word.text)));
    json::object one = {{"words", words}, {"shown", to_json_string(readable(command))}};
    if (command.via >= 0) one["via"] = command.via;
    if (!report.allowed_by[i].empty()) one["allowedBy"] = to_json_string(report.allowed_by[i]);
    if (const auto& objection = report.objections[i]) {
      one["category"] = to_json_string(objection->category);
      if (objection->only_asked) one["onlyAsked"] = true;
      one["detail"] = to_json_string(objection->detail);
      one["advice"] = to_json_string(objection->advice);
    }
    commands.push_back(one);
  }
  const std::string_view decision = !report.first ? "allow" : report.first->only_asked ? "ask" : "deny";
  json::object all = {{"decision", to_json_string(decision)}, {"project", to_json_string(setup.place.project)}};
  if (report.first) {
    all["category"] = to_json_string(report.first->category);
    all["reason"] = to_json_string(report.first->only_asked ? question_of(*report.first) : reason_of(*report.first));
  }
  all["commands"] = commands;
  return to_compact_json(all) + "\n";
}

int depth_of(const ShellReading& reading, const ShellCommand& command) {
  int depth = 0;
  for (int via = command.via; via >= 0 && depth < 20; via = reading.commands[static_cast<size_t>(via)].via) ++depth;
  return depth;
}

std::string for_people(const CommandReport& report) {
  std::string text;
  for (size_t i = 0; i < report.reading.commands.size(); ++i) {
    const ShellCommand& command = report.reading.commands[i];
    if (command.words.empty() && command.redirections.empty()) continue;
    const std::string indent(static_cast<size_t>(2 * depth_of(report.reading, command)), ' ');
    text += fmt::format("{}{}\n", indent, readable(command));
    if (const auto& objection = report.objections[i]) {
      text += fmt::format("{}  {} ({}): {}\n{}  instead: {}\n", indent, objection->only_asked ? "asked" : "denied",
                          objection->category, objection->detail, indent, objection->advice);
    } else if (!report.allowed_by[i].empty()) {
      text += fmt::format("{}  allowed by hooks.commands.allow: {}\n", indent, report.allowed_by[i]);
    }
  }
  if (report.reading.cut_short) text += "(the rest was not read: it is nested too deep, or grows too large)\n";
  if (!report.first) return text + "Allowed.\n";
  if (!report.first->only_asked) return text + fmt::format("Denied: {}.\n", report.first->category);
  return text +
         fmt::format("Asked: {}. Denied where nobody can answer: in a run, in a loop, in a host that can't ask.\n",
                     report.first->category);
}

Result<int> explain(const Arguments& arguments) {
  const std::string cwd = current_directory().value_or("/");
  const PolicySetup setup =
      policy_setup(Environment::of_this_process(), cwd, project_for_loop(absolute_path(cwd, "/")));
  for (const std::string& note : setup.notes)
    static_cast<void>(write_all(STDERR_FILENO, note + "\n", "standard error"));
  for (const std::string& fault : setup.faults)
    static_cast<void>(write_all(STDERR_FILENO, fault + "\n", "standard error"));
  const CommandReport report = judge_command(arguments.positionals()[0], setup.lists, setup.place, setup.shell);
  const bool in_json = arguments.flag("json").value_or(false);
  TRY(write_all(STDOUT_FILENO, in_json ? as_json(report, setup) : for_people(report), "standard output"));
  return report.first ? 1 : 0;
}

}  // namespace

const Command kHooksExplain = {
    "hooks explain",
    "Show how the command policy reads a command, and why it denies it.",
    R"(Parses COMMAND as a shell would here, with this project's settings, and lists each command that would run, with
its words resolved (… marks what is known only at run time). Commands run by another command are listed below it. Exit
codes: 0 allowed, 1 denied, or asked if a person is there.)",
    R"(ralph hooks explain 'find . -name "*.o" -delete'
ralph hooks explain --json 'echo cm0gLXJmIC8K | base64 -d | sh')",
    kOptions,
    kPositionals,
    explain,
};

}  // namespace ralph::cli
