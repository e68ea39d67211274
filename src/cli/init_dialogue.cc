#include "cli/init_dialogue.h"

#include <algorithm>

#include "agents/registry.h"
#include "base/text.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

void complain(Questions& questions, const Error& error) {
  const std::string& message = error.message;
  const size_t colon = message.find(": ");  // between the path in the file and the fault
  questions.say("  " + (colon == std::string::npos ? message : message.substr(colon + 2)));
}

Result<std::string> ask_agent(Questions& questions) {
  for (;;) {
    TRY_VALUE(std::string agent, questions.ask("Agent command (e.g., claude, codex, amp, or other LLM CLI): "));
    if (agent.empty()) {
      questions.say("  Please name the agent's program.");
    } else if (agent.find(" -") != std::string::npos) {
      questions.say("  Only the program here; its flags come next.");
    } else {
      return agent;
    }
  }
}

// An agent run by ralph has nobody to ask, so some agents refuse everything that needs permission.
void show_permissions(Questions& questions, std::string_view agent, std::span<const PermissionFlag> permissions) {
  if (permissions.empty()) return;
  questions.say(fmt::format("  {} can't ask for permission when ralph runs it. Type a number among the flags:", agent));
  for (size_t i = 0; i < permissions.size(); ++i)
    questions.say(fmt::format("    {}  {:<31}  {}", i + 1, permissions[i].flag, permissions[i].effect));
}

Result<std::vector<std::string>> ask_flags(Questions& questions, const std::string& agent) {
  const Adapter* const adapter = find_adapter(base_name(agent));
  const auto permissions = adapter ? adapter->permission_flags : std::span<const PermissionFlag>();
  show_permissions(questions, agent, permissions);
  for (;;) {
    TRY_VALUE(const std::string line, questions.ask("Agent flags (comma-separated, optional): "));
    std::vector<std::string> flags = split_at_commas(line);
    for (std::string& flag : flags) {
      const auto number = parse_count(flag);
      if (number && *number >= 1 && static_cast<size_t>(*number) <= permissions.size())
        flag = permissions[static_cast<size_t>(*number) - 1].flag;
    }
    const Status good = check_setting("/agent/flags", to_json_array(flags));
    if (good) return flags;
    complain(questions, good.error());
  }
}

Result<int> ask_iterations(Questions& questions) {
  const int usual = Settings{}.maximum_iterations;
  for (;;) {
    TRY_VALUE(const std::string line, questions.ask(fmt::format("Maximum iterations [{}]: ", usual)));
    if (line.empty()) return usual;
    const json::value count = number_or_text(line);
    const Status good = check_setting("/maximumIterations", count);
    if (good) return count.to_number<int>();
    complain(questions, good.error());
  }
}

Result<std::string> ask_completion(Questions& questions) {
  const std::string usual = Settings{}.completion_response;
  TRY_VALUE(const std::string line, questions.ask(fmt::format("Completion response [{}]: ", usual)));
  return line.empty() ? usual : line;
}

Result<FailAction> ask_fail_action(Questions& questions) {
  for (;;) {
    TRY_VALUE(const std::string line, questions.ask("  Fail action (APPEND|PREPEND|REPLACE): "));
    if (line.empty()) return FailAction::kAppend;
    const std::string word = to_upper(line);
    for (const FailAction action : {FailAction::kAppend, FailAction::kPrepend, FailAction::kReplace}) {
      if (word == to_string(action)) return action;
    }
    questions.say("  Please answer APPEND (failure after the prompt), PREPEND (before it) or REPLACE (instead of it).");
  }
}

void show_suggestions(Questions& questions, std::span<const GuardrailSuggestion> suggestions) {
  if (suggestions.empty()) return;
  size_t width = 0;
  for (const GuardrailSuggestion& suggestion : suggestions) width = std::max(width, suggestion.command.size());
  questions.say("  Guardrails that fit this project (type a number, or any command):");
  for (size_t i = 0; i < suggestions.size(); ++i)
    questions.say(fmt::format("    {}  {:<{}}  {}", i + 1, suggestions[i].command, width, suggestions[i].why));
}

// A command, typed out or as the number of a suggestion. Empty: finished.
Result<std::optional<std::string>> ask_guardrail(Questions& questions,
                                                 std::span<const GuardrailSuggestion> suggestions) {
  for (;;) {
    TRY_VALUE(std::string line, questions.ask("Add guardrail command (leave blank to finish): "));
    if (line.empty()) return std::nullopt;
    const bool number = line.find_first_not_of("0123456789") == std::string::npos;
    if (!number || suggestions.empty()) return line;
    const auto chosen = parse_count(line);
    if (chosen && static_cast<size_t>(*chosen) <= suggestions.size()) {
      const std::string& command = suggestions[static_cast<size_t>(*chosen) - 1].command;
      questions.say("  " + command);
      return command;
    }
    questions.say(fmt::format("  There is no suggestion {}; they go from 1 to {}.", line, suggestions.size()));
  }
}

Result<std::vector<GuardrailSettings>> ask_guardrails(Questions& questions,
                                                      std::span<const GuardrailSuggestion> suggestions) {
  std::vector<GuardrailSettings> guardrails;
  show_suggestions(questions, suggestions);
  for (;;) {
    TRY_VALUE(const auto command, ask_guardrail(questions, suggestions));
    if (!command) return guardrails;
    GuardrailSettings guardrail;
    guardrail.command = *command;
    TRY_VALUE(guardrail.fail_action, ask_fail_action(questions));
    TRY_VALUE(guardrail.hint, questions.ask("  Hint (optional, guidance for agent on failure): "));
    guardrails.push_back(std::move(guardrail));
  }
}

Result<std::optional<ScmSettings>> ask_scm(Questions& questions) {
  TRY_VALUE(const bool wanted, ask_yes_or_no(questions, "Configure SCM? (y/N): "));
  if (!wanted) return std::nullopt;
  ScmSettings scm;
  while (scm.command.empty()) {
    TRY_VALUE(scm.command, questions.ask("  SCM command (e.g., git): "));
    if (scm.command.empty()) questions.say("  Please name the program, for instance git.");
  }
  while (scm.tasks.empty()) {
    TRY_VALUE(const std::string line, questions.ask("  SCM tasks (comma-separated, e.g., commit,push): "));
    scm.tasks = split_at_commas(line);
    if (scm.tasks.empty()) questions.say("  Please name at least one task, for instance commit.");
  }
  return scm;
}

}  // namespace

Result<InitChoices> ask_for_choices(Questions& questions, std::span<const GuardrailSuggestion> suggestions) {
  InitChoices choices;
  TRY_VALUE(choices.agent, ask_agent(questions));
  TRY_VALUE(choices.flags, ask_flags(questions, choices.agent));
  TRY_VALUE(choices.maximum_iterations, ask_iterations(questions));
  TRY_VALUE(choices.completion_response, ask_completion(questions));
  TRY_VALUE(choices.guardrails, ask_guardrails(questions, suggestions));
  TRY_VALUE(choices.scm, ask_scm(questions));
  return choices;
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  char quote = 0;
  int brackets = 0;
  const auto finish = [&] {
    if (const std::string_view whole = trim(part); !whole.empty()) parts.emplace_back(whole);
    part.clear();
  };
  for (const char c : text) {
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++brackets;
    } else if ((c == ')' || c == ']' || c == '}') && brackets > 0) {
      --brackets;
    } else if (c == ',' && brackets == 0) {
      finish();
      continue;
    }
    part += c;
  }
  finish();
  return parts;
}

}  // namespace ralph::cli
