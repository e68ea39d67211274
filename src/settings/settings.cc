#include "settings/settings.h"

#include "base/text.h"
#include "os/files.h"
#include "settings/brief.h"
#include "settings/confined.h"
#include "settings/layers.h"
#include "settings/owner.h"
#include "settings/remembered.h"

namespace ralph {
namespace {

// The readers below expect a document that fits the schema. An absent key keeps the struct's default.

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
  read(from, "baseline", guardrail.baseline);
  read(from, "allowFewerTests", guardrail.allow_fewer_tests);
  read(from, "flakeRetries", guardrail.flake_retries);
}

void fill(const json::value& from, ProtectSettings& protect) {
  read(from, "paths", protect.paths);
  const auto change = find_string(from, "onChange");
  protect.on_change = change == "fail" ? OnChange::kFail : change == "report" ? OnChange::kReport : OnChange::kRestore;
}

void fill(const json::value& from, ScmSettings& scm) {
  read(from, "command", scm.command);
  read(from, "tasks", scm.tasks);
  read(from, "addAll", scm.add_all);
  if (find_string(from, "onFailure") == "ignore") scm.on_failure = ScmFailure::kIgnore;
}

void fill(const json::value& from, OutputSettings& output) {
  output.emoji = find_bool(from, "emoji");  // "auto" is not a boolean
  output.color = find_bool(from, "color");
  read(from, "timestamps", output.timestamps);
  read(from, "maxToolLines", output.max_tool_lines);
  read(from, "maxToolChars", output.max_tool_chars);
  read(from, "thinking", output.thinking);
}

void fill(const json::value& from, CollectorSettings& collector) {
  read(from, "name", collector.name);
  read(from, "command", collector.command);
  read(from, "format", collector.format);
  read(from, "pattern", collector.pattern);
  read(from, "timeoutSeconds", collector.timeout_seconds);
}

void fill(const json::value& from, CriteriaSettings& criteria) {
  read(from, "zeroErrors", criteria.zero_errors);
  read(from, "zeroWarnings", criteria.zero_warnings);
  read(from, "zeroSecurity", criteria.zero_security);
  read(from, "testsPass", criteria.tests_pass);
  read(from, "stagnationLimit", criteria.stagnation_limit);
}

void fill(const json::value& from, DiagnosticsSettings& diagnostics) {
  read(from, "timeoutSeconds", diagnostics.timeout_seconds);
  read(from, "strict", diagnostics.strict);
  read(from, "baseline", diagnostics.baseline);
  read(from, "auto", diagnostics.automatic);
  read(from, "exclude", diagnostics.exclude);
  read(from, "languageServers", diagnostics.language_servers);
  if (const json::value* collectors = find(from, "collectors"); collectors && collectors->is_array()) {
    for (const json::value& one : collectors->get_array()) fill(one, diagnostics.collectors.emplace_back());
  }
  if (const json::value* criteria = find(from, "criteria"); criteria && criteria->is_object())
    fill(*criteria, diagnostics.criteria.emplace());
}

void fill(const json::value& from, PlanSettings& plan) {
  read(from, "maximumIterations", plan.maximum_iterations);
  read(from, "reviewCap", plan.review_cap);
  read(from, "skipReview", plan.skip_review);
  read(from, "verifyTimeoutSeconds", plan.verify_timeout_seconds);
  if (const json::value* room = find(from, "cleanRoom")) {
    read(*room, "mode", plan.clean_room.mode);
    if (const auto setup = find_string(*room, "setup")) plan.clean_room.setup = std::string(*setup);
  }
  if (const json::value* agents = find(from, "agents")) {
    read(*agents, "implement", plan.implement_agent);
    read(*agents, "review", plan.review_agent);
    read(*agents, "reviewFix", plan.review_fix_agent);
  }
}

void fill(const json::value& from, TaskSettings& task) {
  const auto read_optional = [&](std::string_view key, std::optional<double>& to) {
    if (const json::value* number = find(from, key); number && number->is_number()) to = number->to_number<double>();
  };
  read(from, "maxRestarts", task.max_restarts);
  read(from, "restartDelaySeconds", task.restart_delay_seconds);
  read(from, "childWaitSeconds", task.child_wait_seconds);
  read(from, "doneGraceSeconds", task.done_grace_seconds);
  read(from, "pollSeconds", task.poll_seconds);
  read_optional("idleTimeoutSeconds", task.idle_timeout_seconds);
  read_optional("runTimeoutSeconds", task.run_timeout_seconds);
  read(from, "agent", task.agent);
}

void fill(const json::value& from, CommandSettings& commands) {
  read(from, "allow", commands.allow);
  read(from, "deny", commands.deny);
  read(from, "categories", commands.categories);
}

void fill(const json::value& from, SandboxSettings& sandbox) {
  read(from, "mode", sandbox.mode);
  read(from, "backend", sandbox.backend);
  read(from, "syncSeconds", sandbox.sync_seconds);
  read(from, "network", sandbox.network);
  read(from, "hosts", sandbox.hosts);
  read(from, "resolve", sandbox.resolve);
  read(from, "checkNetwork", sandbox.check_network);
  read(from, "checksOnHost", sandbox.checks_on_host);
  read(from, "environment", sandbox.environment);
  read(from, "readOnly", sandbox.read_only);
  read(from, "writable", sandbox.writable);
  read(from, "processes", sandbox.processes);
  read(from, "memoryMb", sandbox.memory_mb);
  read(from, "cpuPercent", sandbox.cpu_percent);
}

void fill(const json::value& from, JournalSettings& journal) {
  read(from, "maxStreamMb", journal.max_stream_mb);
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
  read(from, "protect", settings.protect);
  if (const json::value* scm = find(from, "scm"); scm && scm->is_object()) fill(*scm, settings.scm.emplace());
  if (const json::value* agents = find(from, "agents"); agents && agents->is_object()) {
    for (const auto& agent : agents->get_object()) fill(agent.value(), settings.agents[agent.key()]);
  }
  read(from, "diagnostics", settings.diagnostics);
  read(from, "plan", settings.plan);
  read(from, "task", settings.task);
  if (const json::value* hooks = find(from, "hooks")) read(*hooks, "commands", settings.hooks.commands);
  read(from, "sandbox", settings.sandbox);
  read(from, "budget", settings.budget);
  read(from, "journal", settings.journal);
  read(from, "output", settings.output);
  const std::string_view trust = find_string(from, "trust").value_or("ask");
  settings.trust = trust == "require" ? TrustMode::kRequire : trust == "off" ? TrustMode::kOff : TrustMode::kAsk;
  read(from, "trustedFolders", settings.trusted_folders);
  return settings;
}

// If a higher layer or the command line names another agent, what lower layers say about theirs does not apply.
void forget_other_agent(json::object& merged, const json::object& upper) {
  const json::value* chosen = upper.if_contains("agent");
  json::value* agent = merged.if_contains("agent");
  const auto command = chosen ? find_string(*chosen, "command") : std::nullopt;
  if (!command || !agent || !agent->is_object() || find_string(*agent, "command") == command) return;
  json::object& members = agent->get_object();
  for (const std::string_view key : {"flags", "kind", "stream", "promptVia", "model", "env"}) members.erase(key);
}

// Each layer is valid by itself, so the merged document can only lack a required key. The error points to the topmost
// file that mentions the object without it.
Status check_merged(const json::value& merged, const std::vector<Layer>& layers) {
  if (layers.empty() && merged.get_object().empty()) return {};  // a test verifies that the schema accepts it
  TRY_VALUE(const auto problems, check_schema(parsed_settings_schema(), merged));
  if (problems.empty()) return {};
  const SchemaProblem& first = problems.front();
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    if (locate(layer->text, first.pointer)) return tl::unexpected(explain({first}, *layer));
  }
  return fail(ErrorKind::kUsage, "{}: {}", readable_path(first.pointer), first.message);
}

// The layers so far, from the lowest.
struct Reading {
  LoadedSettings loaded;
  std::vector<Layer> layers;
  std::string user_file;  // the user's settings, even if missing
};

Result<Reading> begin_with_own(const Environment& environment) {
  Reading reading;
  reading.user_file = user_settings_file(environment);
  if (reading.user_file.empty()) return reading;
  // `trustedFolders` can't vouch for its own file.
  TRY(expect_own(Owners::of_this_process(environment), parent_path(reading.user_file), base_name(reading.user_file)));
  TRY_VALUE(auto layer, read_user_layer(reading.user_file));
  if (!layer) return reading;
  reading.loaded.user_file = reading.user_file;
  reading.loaded.user = layer->values;
  reading.layers.push_back(*std::move(layer));
  return reading;
}

// Empty if the file is trusted or does not exist.
std::string reason_for_distrust(const std::string& project, std::string_view name, const Environment& environment) {
  std::string folder = project;
  if (project.empty() || project == ".") folder = current_directory().value_or(".");
  const std::string path = join_path(folder, name);
  if (!path_exists(path)) return {};
  if (std::string fault = owners_of(environment).fault(folder, name); !fault.empty()) return fault;
  if (name != kLocalSettingsFile || !came_with_repository(environment, folder, std::string(name))) return {};
  return fmt::format(
      "{} is tracked by git, so it may have come with a clone, and is not used: it is for one person on one machine; "
      "remove it from the repository (git rm --cached {}) and check what it says",
      path, name);
}

Status add_project(Reading& reading, const std::string& project, Distrusted distrusted,
                   const Environment& environment) {
  LoadedSettings& loaded = reading.loaded;
  for (const std::string_view name : {kSettingsFile, kLocalSettingsFile}) {
    const std::string fault = reason_for_distrust(project, name, environment);
    if (!fault.empty() && distrusted == Distrusted::kRefused) return fail(ErrorKind::kInput, "{}", fault);
    if (!fault.empty()) {
      loaded.notes.push_back(fault);
      continue;
    }
    TRY_VALUE(auto layer, read_layer(project, name));
    if (!layer) continue;
    TRY(refuse_known_names(*layer));
    for (std::string& line : confine(*layer, loaded.user, reading.user_file)) loaded.notes.push_back(std::move(line));
    loaded.files.push_back(layer->source);
    merge_into(loaded.project, layer->values);
    reading.layers.push_back(*std::move(layer));
  }
  return {};
}

enum class Detail { kAll, kSettings };

Result<LoadedSettings> finish_reading(Reading reading, const Overrides& overrides, Detail detail) {
  TRY(check_overrides(overrides));
  LoadedSettings& loaded = reading.loaded;
  json::object merged = loaded.user;
  forget_other_agent(merged, loaded.project);
  merge_into(merged, loaded.project);
  join_denied(merged, loaded.user);
  forget_other_agent(merged, overrides.values);
  merge_into(merged, overrides.values);
  TRY(check_merged(merged, reading.layers));
  if (detail == Detail::kSettings) {
    loaded.settings = settings_from(merged);
    return std::move(loaded);
  }
  loaded.effective = with_schema_defaults(parsed_settings_schema(), merged);
  loaded.settings = settings_from(loaded.effective);
  if (const auto flag = overrides.flags.find("/agent/command"); flag != overrides.flags.end())
    loaded.settings.agent.named_by = flag->second;
  loaded.origins = origins_of(loaded.effective, reading.layers, overrides);
  return std::move(loaded);
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

Result<LoadedSettings> load_settings(const std::string& project, const Overrides& overrides, Distrusted distrusted,
                                     const Environment& environment) {
  TRY_VALUE(Reading reading, begin_with_own(environment));
  TRY(add_project(reading, project, distrusted, environment));
  return finish_reading(std::move(reading), overrides, Detail::kAll);
}

Result<LoadedSettings> load_settings_briefly(const std::string& project, const Environment& environment) {
  TRY_VALUE(Reading reading, begin_with_own(environment));
  TRY(add_project(reading, project, Distrusted::kLeftOut, environment));
  return finish_reading(std::move(reading), {}, Detail::kSettings);
}

Result<LoadedSettings> load_own_settings_briefly(const Environment& environment) {
  TRY_VALUE(Reading reading, begin_with_own(environment));
  return finish_reading(std::move(reading), {}, Detail::kSettings);
}

std::map<std::string, std::string> secret_candidates(const Settings& settings) {
  std::map<std::string, std::string> variables = settings.agent.env;
  for (const auto& [name, agent] : settings.agents) {
    // Two agents may set the same variable to different values; both count.
    for (const auto& [variable, value] : agent.env) variables[fmt::format("{}_{}", name, variable)] = value;
  }
  return variables;
}

}  // namespace ralph
