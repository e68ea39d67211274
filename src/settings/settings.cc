#include "settings/settings.h"

#include "base/text.h"
#include "settings/layers.h"

namespace ralph {
namespace {

// The readers below get a document that fits the schema; an absent key keeps the struct's default.

void read(const json::value& from, std::string_view key, std::string& to) {
  if (const auto text = find_string(from, key)) to = *text;
}

void read(const json::value& from, std::string_view key, int& to) {
  if (const auto number = find_integer(from, key)) to = static_cast<int>(*number);
}

void read(const json::value& from, std::string_view key, bool& to) {
  if (const auto yes = find_bool(from, key)) to = *yes;
}

void read(const json::value& from, std::string_view key, double& to) {
  if (const json::value* number = find(from, key); number && number->is_number()) to = number->to_number<double>();
}

void read(const json::value& from, std::string_view key, std::vector<std::string>& to) {
  const json::value* list = find(from, key);
  if (!list || !list->is_array()) return;
  to.clear();
  for (const json::value& item : list->get_array()) to.emplace_back(item.as_string());
}

AgentDefinition definition_from(const json::value& from) {
  AgentDefinition agent;
  read(from, "command", agent.command);
  read(from, "flags", agent.flags);
  if (const auto via = find_string(from, "promptVia")) {
    agent.prompt_via = *via == "stdin" ? PromptVia::kStdin : *via == "file" ? PromptVia::kFile : PromptVia::kArgument;
  }
  if (const json::value* env = find(from, "env"); env && env->is_object()) {
    for (const auto& variable : env->get_object())
      agent.env.emplace(std::string(variable.key()), std::string(variable.value().as_string()));
  }
  read(from, "kind", agent.kind);
  read(from, "stream", agent.stream);
  read(from, "model", agent.model);
  return agent;
}

AgentSettings agent_from(const json::value& from) {
  AgentSettings agent;
  static_cast<AgentDefinition&>(agent) = definition_from(from);
  read(from, "timeoutSeconds", agent.timeout_seconds);
  read(from, "idleTimeoutSeconds", agent.idle_timeout_seconds);
  read(from, "lingerSeconds", agent.linger_seconds);
  read(from, "fallback", agent.fallback);
  read(from, "maxLimitWaitMinutes", agent.max_limit_wait_minutes);
  if (const json::value* retry = find(from, "retry")) {
    read(*retry, "attempts", agent.retry.attempts);
    read(*retry, "backoffSeconds", agent.retry.backoff_seconds);
    read(*retry, "maxBackoffSeconds", agent.retry.max_backoff_seconds);
    read(*retry, "overloadAttempts", agent.retry.overload_attempts);
  }
  return agent;
}

GuardrailSettings guardrail_from(const json::value& from) {
  GuardrailSettings guardrail;
  read(from, "command", guardrail.command);
  const std::string action = to_upper(find_string(from, "failAction").value_or("APPEND"));
  guardrail.fail_action = action == "PREPEND"   ? FailAction::kPrepend
                          : action == "REPLACE" ? FailAction::kReplace
                                                : FailAction::kAppend;
  read(from, "hint", guardrail.hint);
  read(from, "name", guardrail.name);
  read(from, "timeoutSeconds", guardrail.timeout_seconds);
  return guardrail;
}

ScmSettings scm_from(const json::value& from) {
  ScmSettings scm;
  read(from, "command", scm.command);
  read(from, "tasks", scm.tasks);
  read(from, "addAll", scm.add_all);
  return scm;
}

OutputSettings output_from(const json::value& from) {
  OutputSettings output;
  output.emoji = find_bool(from, "emoji");  // "auto" is not a boolean
  output.color = find_bool(from, "color");
  read(from, "timestamps", output.timestamps);
  read(from, "maxToolLines", output.max_tool_lines);
  read(from, "maxToolChars", output.max_tool_chars);
  read(from, "thinking", output.thinking);
  return output;
}

PlanSettings plan_from(const json::value& from) {
  PlanSettings plan;
  read(from, "maximumIterations", plan.maximum_iterations);
  read(from, "reviewCap", plan.review_cap);
  read(from, "skipReview", plan.skip_review);
  read(from, "verifyTimeoutSeconds", plan.verify_timeout_seconds);
  if (const json::value* agents = find(from, "agents")) {
    read(*agents, "implement", plan.implement_agent);
    read(*agents, "review", plan.review_agent);
    read(*agents, "reviewFix", plan.review_fix_agent);
  }
  return plan;
}

CommandSettings commands_from(const json::value& from) {
  CommandSettings commands;
  read(from, "allow", commands.allow);
  read(from, "deny", commands.deny);
  if (const json::value* categories = find(from, "categories"); categories && categories->is_object()) {
    for (const auto& category : categories->get_object())
      commands.categories.emplace(std::string(category.key()), category.value().as_bool());
  }
  return commands;
}

Settings settings_from(const json::value& from) {
  Settings settings;
  read(from, "maximumIterations", settings.maximum_iterations);
  read(from, "completionResponse", settings.completion_response);
  read(from, "outputTruncateChars", settings.output_truncate_chars);
  read(from, "streamAgentOutput", settings.stream_agent_output);
  read(from, "includeIterationCountInPrompt", settings.include_iteration_count_in_prompt);
  if (const json::value* agent = find(from, "agent")) settings.agent = agent_from(*agent);
  if (const json::value* guardrails = find(from, "guardrails"); guardrails && guardrails->is_array()) {
    for (const json::value& guardrail : guardrails->get_array())
      settings.guardrails.push_back(guardrail_from(guardrail));
  }
  if (const json::value* scm = find(from, "scm"); scm && scm->is_object()) settings.scm = scm_from(*scm);
  if (const json::value* agents = find(from, "agents"); agents && agents->is_object()) {
    for (const auto& agent : agents->get_object()) {
      settings.agents.emplace(std::string(agent.key()), definition_from(agent.value()));
    }
  }
  if (const json::value* plan = find(from, "plan")) settings.plan = plan_from(*plan);
  if (const json::value* hooks = find(from, "hooks")) {
    if (const json::value* commands = find(*hooks, "commands")) settings.hooks.commands = commands_from(*commands);
  }
  if (const json::value* budget = find(from, "budget")) {
    read(*budget, "maxMinutes", settings.budget.max_minutes);
    read(*budget, "maxCostUsd", settings.budget.max_cost_usd);
    read(*budget, "maxTokens", settings.budget.max_tokens);
  }
  if (const json::value* output = find(from, "output")) settings.output = output_from(*output);
  return settings;
}

// Each layer is valid by itself, so the merged document can only lack a required key. The error points to the topmost
// file that mentions the object without it.
Status check_merged(const json::value& merged, const std::vector<Layer>& layers) {
  TRY_VALUE(const auto problems, check_schema(parsed_settings_schema(), merged));
  if (problems.empty()) return {};
  const SchemaProblem& first = problems.front();
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (locate(layer->text, first.pointer)) return tl::unexpected(explain({first}, *layer));
  }
  return fail(ErrorKind::kUsage, "{}: {}", readable_path(first.pointer), first.message);
}

}  // namespace

std::string_view to_string(FailAction action) {
  switch (action) {
    case FailAction::kPrepend:
      return "PREPEND";
    case FailAction::kReplace:
      return "REPLACE";
    case FailAction::kAppend:
      break;
  }
  return "APPEND";
}

void Overrides::set(const std::string& pointer, json::value value, std::string flag) {
  const std::vector<std::string> keys = split(pointer.substr(1), '/');
  json::value& first = values[keys[0]];
  if (keys.size() == 2 && !first.is_object()) first = json::object();
  (keys.size() == 2 ? first.get_object()[keys[1]] : first) = std::move(value);
  flags[pointer] = std::move(flag);
}

Result<LoadedSettings> load_settings(const std::string& project, const Overrides& overrides) {
  std::vector<Layer> layers;
  for (const std::string_view name : {kSettingsFile, kLocalSettingsFile}) {
    TRY_VALUE(auto layer, read_layer(project, name));
    if (layer) layers.push_back(*std::move(layer));
  }
  TRY(check_overrides(overrides));

  json::object merged;
  for (const Layer& layer : layers) merge_into(merged, layer.values);
  merge_into(merged, overrides.values);
  TRY(check_merged(merged, layers));

  LoadedSettings loaded;
  loaded.effective = with_schema_defaults(parsed_settings_schema(), merged);
  loaded.settings = settings_from(loaded.effective);
  loaded.origins = origins_of(loaded.effective, layers, overrides);
  for (const Layer& layer : layers) loaded.files.push_back(layer.source);
  return loaded;
}

}  // namespace ralph
