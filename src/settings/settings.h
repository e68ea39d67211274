// The settings of a project, typed. Defaults stand here and in schemas/settings.schema.json, and a test compares them.
// Specified in docs/formats/settings.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/value.h"

namespace ralph {

enum class FailAction { kAppend, kPrepend, kReplace };
std::string_view to_string(FailAction action);  // "APPEND", ...

enum class PromptVia { kArgument, kStdin, kFile };

struct RetrySettings {
  int attempts = 3;            // further tries of a crashed or silent agent within one iteration
  double backoff_seconds = 2;  // before the first; doubled for each further one
  double max_backoff_seconds = 60;
  int overload_attempts = 8;  // further tries of an agent whose service is overloaded
};

// What an agent is and how it is spoken to.
struct AgentDefinition {
  std::string command;
  std::vector<std::string> flags;          // as written; each is split like shell words when the agent is started
  std::optional<PromptVia> prompt_via;     // how a custom agent gets its prompt; unset: as an argument, or on standard
                                           // input when it is too large for one
  std::map<std::string, std::string> env;  // added to the agent's environment
  std::string kind;                        // "claude", ..., "custom"; empty: told by the command's name
  std::string stream;                      // what it prints: "claude", ..., "text"; empty: what its kind prints
  std::string model;                       // empty: the agent's own choice
};

struct AgentSettings : AgentDefinition {
  double timeout_seconds = 0;       // 0: none
  double idle_timeout_seconds = 0;  // 0: none
  double linger_seconds = 30;       // how long it may stay after its result
  RetrySettings retry;
  std::vector<std::string> fallback;     // agents to go on with while this one is limited
  double max_limit_wait_minutes = 1440;  // the longest wait for a usage limit to end
};

struct GuardrailSettings {
  std::string command;  // run by sh -c
  FailAction fail_action = FailAction::kAppend;
  std::string hint;
  std::string name;  // shown instead of the command; empty: the command
  double timeout_seconds = 0;
};

struct ScmSettings {
  std::string command;
  std::vector<std::string> tasks;
  bool add_all = true;
};

struct BudgetSettings {
  double max_minutes = 0;   // 0: none
  double max_cost_usd = 0;  // 0: none
  double max_tokens = 0;    // 0: none
};

// How what the agent does is shown. Unset: decided by the terminal and the environment.
struct OutputSettings {
  std::optional<bool> emoji;
  std::optional<bool> color;
  bool timestamps = false;
  int max_tool_lines = 5;  // of a tool's output; 0: none of it
  int max_tool_chars = 1000;
  bool thinking = false;
};

// For `ralph plan`.
struct PlanSettings {
  int maximum_iterations = 15;
  int review_cap = 5;
  bool skip_review = false;
  double verify_timeout_seconds = 0;                            // 0: none
  std::string implement_agent, review_agent, review_fix_agent;  // names as in agent.fallback; empty: `agent`
};

// Which commands `ralph hooks pre-tool` lets an agent run. `deny` outranks `allow`, which outranks the categories.
struct CommandSettings {
  std::vector<std::string> allow, deny;    // the first words of commands; `*`: any one word
  std::map<std::string, bool> categories;  // of the command policy; absent: on
};

struct HooksSettings {
  CommandSettings commands;
};

struct Settings {
  int maximum_iterations = 10;
  std::string completion_response = "DONE";
  int output_truncate_chars = 5000;
  bool stream_agent_output = true;
  bool include_iteration_count_in_prompt = false;
  AgentSettings agent;
  std::map<std::string, AgentDefinition> agents;  // by name, for agent.command and agent.fallback
  std::vector<GuardrailSettings> guardrails;
  std::optional<ScmSettings> scm;
  PlanSettings plan;
  HooksSettings hooks;
  BudgetSettings budget;
  OutputSettings output;
};

// Where a value came from: "default", ".ralph/settings.json", ".ralph/settings.local.json" or "-m" and the like.
struct Origin {
  std::string pointer;  // "/agent/command"
  std::string source;
};

struct LoadedSettings {
  Settings settings;
  json::value effective;           // the merged document, defaults filled in, in schema order
  std::vector<Origin> origins;     // one per scalar or array of `effective`
  std::vector<std::string> files;  // the files that were read, in order
};

// Flags of the command line, as a JSON object of the same shape as a settings file, and the flag behind each pointer.
struct Overrides {
  json::object values;
  std::map<std::string, std::string> flags;  // "/maximumIterations" -> "-m"
};

// Reads .ralph/settings.json and .ralph/settings.local.json below `project` (either may be missing), checks each
// against the schema, merges (objects merge, scalars and arrays replace), applies the overrides, fills in defaults.
// Every error names the file, line and column, the path inside it, the value found, and what was expected.
Result<LoadedSettings> load_settings(const std::string& project, const Overrides& overrides = {});

std::string_view settings_schema();  // the JSON Schema, as shipped

}  // namespace ralph
