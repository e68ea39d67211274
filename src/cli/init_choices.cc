#include "cli/init_choices.h"

#include <algorithm>

#include "base/text.h"
#include "settings/layers.h"

namespace ralph::cli {
namespace {

// The member with this name if it is an object; otherwise an empty object.
json::object object_in(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_object() ? found->get_object() : json::object();
}

std::string text_in(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

// An existing guardrail with the same command keeps what is not asked about: its name, its timeout.
json::object guardrail_document(const GuardrailSettings& guardrail, const json::value* existing) {
  json::object document;
  for (const json::value& old : items_of(existing)) {
    if (find_string(old, "command") == std::string_view(guardrail.command)) document = old.as_object();
  }
  if (document.contains("hint")) document.stable_erase(document.find("hint"));
  document["command"] = to_json_string(guardrail.command);
  document["failAction"] = to_string(guardrail.fail_action);
  if (!guardrail.hint.empty()) document["hint"] = to_json_string(guardrail.hint);
  return document;
}

// The values of an option given once for all guardrails, or once for each, in order.
class PerGuardrail {
 public:
  static Result<PerGuardrail> read(const Arguments& arguments, std::string_view option, size_t guardrails,
                                   bool suggested) {
    PerGuardrail result;
    result.values_ = arguments.values(option);
    if (!result.values_.empty() && guardrails == 0 && !suggested)
      return fail(ErrorKind::kUsage, "--{} belongs to a guardrail; add --guardrail 'make test'", option);
    if (result.values_.size() > 1 && result.values_.size() != guardrails)
      return fail(ErrorKind::kUsage,
                  "--{} is given {} and --guardrail {}: give it once for all guardrails, or once for each", option,
                  count_of(result.values_.size(), "time"), count_of(guardrails, "time"));
    return result;
  }

  std::string at(size_t guardrail) const {
    if (values_.size() == 1) return values_[0];
    return guardrail < values_.size() ? values_[guardrail] : "";
  }

 private:
  std::vector<std::string> values_;
};

Result<std::vector<GuardrailSettings>> guardrails_from(const Arguments& arguments,
                                                       std::span<const GuardrailSuggestion> suggestions) {
  std::vector<std::string> commands = arguments.values("guardrail");
  const bool suggested = arguments.has("suggested");
  TRY_VALUE(const auto actions, PerGuardrail::read(arguments, "fail-action", commands.size(), suggested));
  TRY_VALUE(const auto hints, PerGuardrail::read(arguments, "hint", commands.size(), suggested));
  if (suggested && suggestions.empty())
    return fail(ErrorKind::kUsage,
                "--suggested: no tool that ralph knows was found in this folder; name commands with --guardrail");
  if (suggested) {
    for (const GuardrailSuggestion& suggestion : suggestions) {
      if (std::find(commands.begin(), commands.end(), suggestion.command) == commands.end())
        commands.push_back(suggestion.command);
    }
  }
  std::vector<GuardrailSettings> guardrails;
  for (const std::string& command : commands) {
    if (trim(command).empty()) return fail(ErrorKind::kUsage, "--guardrail: expected a command that is not blank");
    GuardrailSettings guardrail;
    guardrail.command = command;
    guardrail.fail_action = from_word<FailAction>(actions.at(guardrails.size())).value_or(FailAction::kAppend);
    guardrail.hint = hints.at(guardrails.size());
    guardrails.push_back(std::move(guardrail));
  }
  return guardrails;
}

Result<std::optional<ScmSettings>> scm_from(const Arguments& arguments) {
  const auto command = arguments.value("scm");
  ScmSettings scm;
  scm.tasks = arguments.values("scm-task");
  if (!command && scm.tasks.empty()) return std::nullopt;
  if (!command) return fail(ErrorKind::kUsage, "--scm-task needs to know which program; add --scm git");
  if (scm.tasks.empty()) return fail(ErrorKind::kUsage, "--scm {} has nothing to do; add --scm-task commit", *command);
  scm.command = *command;
  TRY(check_setting("/scm/command", to_json_string(scm.command), "--scm"));
  TRY(check_setting("/scm/tasks", to_json_array(scm.tasks), "--scm-task"));
  return scm;
}

// The choices in the existing settings, which are known to be valid.
InitChoices choices_in(const json::object& existing) {
  InitChoices choices;
  const json::value document = existing;
  const json::object agent = object_in(existing, "agent");
  choices.agent = text_in(agent, "command");
  choices.flags = strings_of(agent.if_contains("flags"));
  choices.maximum_iterations =
      static_cast<int>(find_integer(document, "maximumIterations").value_or(choices.maximum_iterations));
  choices.completion_response =
      std::string(find_string(document, "completionResponse").value_or(choices.completion_response));
  for (const json::value& one : items_of(existing.if_contains("guardrails"))) {
    GuardrailSettings guardrail;
    guardrail.command = find_string(one, "command").value_or("");
    guardrail.fail_action =
        from_word<FailAction>(find_string(one, "failAction").value_or("")).value_or(FailAction::kAppend);
    guardrail.hint = find_string(one, "hint").value_or("");
    choices.guardrails.push_back(std::move(guardrail));
  }
  if (const json::object scm = object_in(existing, "scm"); !scm.empty()) {
    choices.scm.emplace();
    choices.scm->command = text_in(scm, "command");
    choices.scm->tasks = strings_of(scm.if_contains("tasks"));
  }
  return choices;
}

}  // namespace

Result<InitChoices> choices_from_flags(const Arguments& arguments, std::span<const GuardrailSuggestion> suggestions,
                                       const json::object& existing) {
  InitChoices choices = choices_in(existing);
  if (const auto agent = arguments.value("agent")) {
    if (trim(*agent) != choices.agent) choices.flags.clear();  // they belong to another agent
    choices.agent = trim(*agent);
    TRY(check_setting("/agent/command", to_json_string(choices.agent), "--agent"));
  } else if (choices.agent.empty()) {
    return fail(ErrorKind::kUsage, "which agent? add --agent claude, or any other program");
  }
  if (arguments.has("flag")) choices.flags = arguments.values("flag");
  TRY(check_setting("/agent/flags", to_json_array(choices.flags), "--flag"));
  if (const auto model = arguments.value("model")) {
    choices.model = trim(*model);
    if (choices.model.empty()) return fail(ErrorKind::kUsage, "--model is blank; name a model");
  }

  for (const std::string_view option : {"maximum-iterations", "max-iterations"}) {
    const auto text = arguments.value(option);
    if (!text) continue;
    const json::value count = number_or_text(*text);
    TRY(check_setting("/maximumIterations", count, fmt::format("--{}", option)));
    choices.maximum_iterations = count.to_number<int>();
  }
  if (const auto text = arguments.value("completion-response")) {
    choices.completion_response = *text;
    TRY(check_setting("/completionResponse", to_json_string(*text), "--completion-response"));
  }
  TRY_VALUE(const auto guardrails, guardrails_from(arguments, suggestions));
  if (arguments.has("guardrail") || arguments.has("suggested")) choices.guardrails = guardrails;
  TRY_VALUE(const auto scm, scm_from(arguments));
  if (scm) choices.scm = scm;
  return choices;
}

json::object settings_document(const InitChoices& choices, const json::object& existing) {
  const Settings defaults;
  json::object document = existing;
  const auto set_if_absent = [&](std::string_view key, const json::value& value) {
    if (!document.contains(key)) document[key] = value;
  };
  document["maximumIterations"] = choices.maximum_iterations;
  document["completionResponse"] = to_json_string(choices.completion_response);
  set_if_absent("outputTruncateChars", defaults.output_truncate_chars);
  set_if_absent("streamAgentOutput", defaults.stream_agent_output);
  set_if_absent("includeIterationCountInPrompt", defaults.include_iteration_count_in_prompt);

  json::object agent = object_in(existing, "agent");
  if (text_in(agent, "command") != choices.agent) {
    for (const std::string_view key : {"kind", "stream", "promptVia", "model"}) {
      if (agent.contains(key)) agent.stable_erase(agent.find(key));
    }
  }
  agent["command"] = to_json_string(choices.agent);
  agent["flags"] = to_json_array(choices.flags);
  if (!choices.model.empty()) agent["model"] = to_json_string(choices.model);
  document["agent"] = std::move(agent);

  json::array guardrails;
  for (const GuardrailSettings& guardrail : choices.guardrails)
    guardrails.push_back(guardrail_document(guardrail, existing.if_contains("guardrails")));
  document["guardrails"] = std::move(guardrails);
  if (!choices.scm) {
    if (document.contains("scm")) document.stable_erase(document.find("scm"));
    return document;
  }
  json::object scm = object_in(existing, "scm");
  scm["command"] = to_json_string(choices.scm->command);
  scm["tasks"] = to_json_array(choices.scm->tasks);
  document["scm"] = std::move(scm);
  return document;
}

Status check_setting(std::string_view pointer, json::value value, std::string_view name) {
  Overrides overrides;
  const std::vector<std::string> keys = split(pointer.substr(1), '/');
  if (keys.size() == 2) value = json::object{{keys[1], std::move(value)}};
  overrides.values[keys[0]] = std::move(value);
  Status checked = check_overrides(overrides);
  if (checked || name.empty()) return checked;
  // The message begins with the path in the file; replace the path with the option that was typed.
  const std::string message = checked.error().message;
  return fail(checked.error().kind, "{}{}", name, message.substr(std::min(message.find(": "), message.size())));
}

json::value number_or_text(std::string_view typed) {
  auto number = parse_json(typed, "number");
  if (number && number->is_number()) return *std::move(number);
  return to_json_string(typed);
}

}  // namespace ralph::cli
