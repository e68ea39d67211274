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

template <class T>
void read(const json::value& from, std::string_view key, std::map<std::string, T>& to) {
  const json::value* object = find(from, key);
  if (!object || !object->is_object()) return;
  for (const auto& member : object->get_object()) read(*object, member.key(), to[member.key()]);
}

void fill(const json::value& from, AgentDefinition& agent) {
  read(from, "command", agent.command);
  read(from, "flags", agent.flags);
  if (const auto via = find_string(from, "promptVia")) {
    agent.prompt_via = *via == "stdin" ? PromptVia::kStdin : *via == "file" ? PromptVia::kFile : PromptVia::kArgument;
  }
  read(from, "env", agent.env);
  read(from, "kind", agent.kind);
  read(from, "stream", agent.stream);
  read(from, "model", agent.model);
}

void fill(const json::value& from, RetrySettings& retry) {
  read(from, "attempts", retry.attempts);
  read(from, "backoffSeconds", retry.backoff_seconds);
  read(from, "maxBackoffSeconds", retry.max_backoff_seconds);
  read(from, "overloadAttempts", retry.overload_attempts);
}

void fill(const json::value& from, AgentSettings& agent) {
  fill(from, static_cast<AgentDefinition&>(agent));
  read(from, "timeoutSeconds", agent.timeout_seconds);
  read(from, "idleTimeoutSeconds", agent.idle_timeout_seconds);
  read(from, "lingerSeconds", agent.linger_seconds);
  read(from, "fallback", agent.fallback);
  read(from, "maxLimitWaitMinutes", agent.max_limit_wait_minutes);
  if (const json::value* retry = find(from, "retry")) fill(*retry, agent.retry);
}

void fill(const json::value& from, GuardrailSettings& guardrail) {
  read(from, "command", guardrail.command);
  const std::string action = to_upper(find_string(from, "failAction").value_or("APPEND"));
  guardrail.fail_action = action == "PREPEND"   ? FailAction::kPrepend
                          : action == "REPLACE" ? FailAction::kReplace
                                                : FailAction::kAppend;
  read(from, "hint", guardrail.hint);
  read(from, "name", guardrail.name);
  read(from, "timeoutSeconds", guardrail.timeout_seconds);
}

void fill(const json::value& from, ScmSettings& scm) {
  read(from, "command", scm.command);
  read(from, "tasks", scm.tasks);
  read(from, "addAll", scm.add_all);
}

void fill(const json::value& from, OutputSettings& output) {
  output.emoji = find_bool(from, "emoji");  // "auto" is not a boolean
  output.color = find_bool(from, "color");
  read(from, "timestamps", output.timestamps);
  read(from, "maxToolLines", output.max_tool_lines);
  read(from, "maxToolChars", output.max_tool_chars);
  read(from, "thinking", output.thinking);
}

void fill(const json::value& from, PlanSettings& plan) {
  read(from, "maximumIterations", plan.maximum_iterations);
  read(from, "reviewCap", plan.review_cap);
  read(from, "skipReview", plan.skip_review);
  read(from, "verifyTimeoutSeconds", plan.verify_timeout_seconds);
  if (const json::value* agents = find(from, "agents")) {
    read(*agents, "implement", plan.implement_agent);
    read(*agents, "review", plan.review_agent);
    read(*agents, "reviewFix", plan.review_fix_agent);
  }
}

void fill(const json::value& from, CommandSettings& commands) {
  read(from, "allow", commands.allow);
  read(from, "deny", commands.deny);
  read(from, "categories", commands.categories);
}

void fill(const json::value& from, BudgetSettings& budget) {
  read(from, "maxMinutes", budget.max_minutes);
  read(from, "maxCostUsd", budget.max_cost_usd);
  read(from, "maxTokens", budget.max_tokens);
}

template <class T>
void read(const json::value& from, std::string_view key, T& to) {
  if (const json::value* inner = find(from, key)) fill(*inner, to);
}

Settings settings_from(const json::value& from) {
  Settings settings;
  read(from, "maximumIterations", settings.maximum_iterations);
  read(from, "completionResponse", settings.completion_response);
  read(from, "outputTruncateChars", settings.output_truncate_chars);
  read(from, "streamAgentOutput", settings.stream_agent_output);
  read(from, "includeIterationCountInPrompt", settings.include_iteration_count_in_prompt);
  read(from, "agent", settings.agent);
  if (const json::value* guardrails = find(from, "guardrails"); guardrails && guardrails->is_array()) {
    for (const json::value& guardrail : guardrails->get_array()) fill(guardrail, settings.guardrails.emplace_back());
  }
  if (const json::value* scm = find(from, "scm"); scm && scm->is_object()) fill(*scm, settings.scm.emplace());
  if (const json::value* agents = find(from, "agents"); agents && agents->is_object()) {
    for (const auto& agent : agents->get_object()) fill(agent.value(), settings.agents[agent.key()]);
  }
  read(from, "plan", settings.plan);
  if (const json::value* hooks = find(from, "hooks")) read(*hooks, "commands", settings.hooks.commands);
  read(from, "budget", settings.budget);
  read(from, "output", settings.output);
  return settings;
}

// What the files say of their agent does not hold for another one that is named on the command line.
void forget_other_agent(json::object& merged, const Overrides& overrides) {
  const json::value* chosen = overrides.values.if_contains("agent");
  json::value* agent = merged.if_contains("agent");
  const auto command = chosen ? find_string(*chosen, "command") : std::nullopt;
  if (!command || !agent || !agent->is_object() || find_string(*agent, "command") == command) return;
  json::object& members = agent->get_object();
  for (const std::string_view key : {"flags", "kind", "stream", "promptVia", "model", "env"}) members.erase(key);
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
  return action == FailAction::kPrepend ? "PREPEND" : action == FailAction::kReplace ? "REPLACE" : "APPEND";
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
  forget_other_agent(merged, overrides);
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
