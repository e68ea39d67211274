// The typed settings of a project. A test verifies that the defaults here equal those in schemas/settings.schema.json.
// Specified in docs/formats/settings.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/words.h"
#include "json/value.h"
#include "os/environment.h"

namespace ralph {

enum class FailAction { kAppend, kPrepend, kReplace };
template <>
inline constexpr auto kWords<FailAction> = words({"APPEND", "PREPEND", "REPLACE"});
// People may write it in small letters.
template <>
inline std::optional<FailAction> from_word<FailAction>(std::string_view word) {
  return find_word<FailAction>(to_upper(word));
}

enum class PromptVia { kArgument, kStdin, kFile };
template <>
inline constexpr auto kWords<PromptVia> = words({"argument", "stdin", "file"});

struct RetrySettings {
  int attempts = 4;            // per iteration, if the agent crashes or says nothing
  double backoff_seconds = 2;  // before the first retry; doubled for each later one
  double max_backoff_seconds = 60;
  int overload_attempts = 8;  // retries of an agent whose service is overloaded

  template <class V>
  void fields(V&& v) {
    v("attempts", attempts), v("backoffSeconds", backoff_seconds), v("maxBackoffSeconds", max_backoff_seconds);
    v("overloadAttempts", overload_attempts);
  }
};

// Describes an agent and how to start it.
struct AgentDefinition {
  std::string command;
  std::vector<std::string> flags;          // as written; each is split like shell words when the agent is started
  std::optional<PromptVia> prompt_via;     // how a custom agent gets its prompt; unset: as an argument, or on standard
                                           // input when it is too large for one
  std::map<std::string, std::string> env;  // added to the agent's environment
  std::string kind;                        // "claude", ..., "custom"; empty: derived from the command's name
  std::string stream;                      // its output format: "claude", ..., "text"; empty: that of its kind
  std::string model;                       // empty: the agent's own choice

  template <class V>
  void fields(V&& v) {
    v("command", command), v("flags", flags), v("promptVia", prompt_via), v("env", env), v("kind", kind);
    v("stream", stream), v("model", model);
  }
};

struct AgentSettings : AgentDefinition {
  double timeout_seconds = 0;       // 0: none
  double idle_timeout_seconds = 0;  // 0: none
  double linger_seconds = 30;       // how long it may keep running after its result
  RetrySettings retry;
  std::vector<std::string> fallback;       // agents that take over while this one is limited
  double max_limit_wait_minutes = 1440;    // the longest wait for a usage limit to end
  std::string named_by = "agent.command";  // for errors: the setting, or the flag that was typed instead

  template <class V>
  void fields(V&& v) {
    AgentDefinition::fields(v);
    v("timeoutSeconds", timeout_seconds), v("idleTimeoutSeconds", idle_timeout_seconds);
    v("lingerSeconds", linger_seconds), v("retry", retry), v("fallback", fallback);
    v("maxLimitWaitMinutes", max_limit_wait_minutes);
  }
};

struct GuardrailSettings {
  std::string command;  // run by sh -c
  FailAction fail_action = FailAction::kAppend;
  std::string hint;
  std::string name;  // displayed name; empty: the command
  double timeout_seconds = 0;
  bool baseline = false;           // run once before the first agent, to learn how many tests there are
  bool allow_fewer_tests = false;  // fewer or newly skipped tests do not prevent completion
  int flake_retries = 0;           // additional attempts after a failure

  template <class V>
  void fields(V&& v) {
    v("command", command), v("failAction", fail_action), v("hint", hint), v("name", name);
    v("timeoutSeconds", timeout_seconds), v("baseline", baseline), v("allowFewerTests", allow_fewer_tests);
    v("flakeRetries", flake_retries);
  }
};

// What happens to a protected file that was changed or deleted.
enum class OnChange { kRestore, kFail, kReport };
template <>
inline constexpr auto kWords<OnChange> = words({"restore", "fail", "report"});

struct ProtectSettings {
  std::vector<std::string> paths;  // patterns, relative to the project
  OnChange on_change = OnChange::kRestore;

  template <class V>
  void fields(V&& v) {
    v("paths", paths), v("onChange", on_change);
  }
};

// How a run treats a failed commit or push.
enum class ScmFailure { kFeedback, kIgnore };
template <>
inline constexpr auto kWords<ScmFailure> = words({"feedback", "ignore"});

struct ScmSettings {
  std::string command;
  std::vector<std::string> tasks;
  bool add_all = true;
  ScmFailure on_failure = ScmFailure::kFeedback;

  template <class V>
  void fields(V&& v) {
    v("command", command), v("tasks", tasks), v("addAll", add_all), v("onFailure", on_failure);
  }
};

struct BudgetSettings {
  double max_minutes = 0;   // 0: none
  double max_cost_usd = 0;  // 0: none
  double max_tokens = 0;    // 0: none

  template <class V>
  void fields(V&& v) {
    v("maxMinutes", max_minutes), v("maxCostUsd", max_cost_usd), v("maxTokens", max_tokens);
  }
};

struct JournalSettings {
  double max_stream_mb = 1024;  // limit on the agents' raw output that a run keeps; 0: no limit

  template <class V>
  void fields(V&& v) {
    v("maxStreamMb", max_stream_mb);
  }
};

// How the agent's work is displayed. Unset: depends on the terminal and the environment.
struct OutputSettings {
  std::optional<bool> emoji;
  std::optional<bool> color;
  bool timestamps = false;
  int max_tool_lines = 5;  // of a tool's output; 0: show none
  int max_tool_chars = 1000;
  bool thinking = false;

  template <class V>
  void fields(V&& v) {
    v("emoji", emoji), v("color", color);  // "auto" is not a boolean
    v("timestamps", timestamps), v("maxToolLines", max_tool_lines), v("maxToolChars", max_tool_chars);
    v("thinking", thinking);
  }
};

// Where a plan's reviews run.
struct CleanRoomSettings {
  std::string mode = "auto";         // "auto", "on", "off"
  std::optional<std::string> setup;  // prepares a new checkout for the checks; empty: nothing is needed

  template <class V>
  void fields(V&& v) {
    v("mode", mode), v("setup", setup);
  }
};

// For `ralph plan`.
struct PlanSettings {
  int maximum_iterations = 15;
  int review_cap = 5;
  bool skip_review = false;
  double verify_timeout_seconds = 0;                            // 0: none
  std::string implement_agent, review_agent, review_fix_agent;  // names as in agent.fallback; empty: `agent`
  CleanRoomSettings clean_room;

  struct Agents {
    PlanSettings& plan;

    template <class V>
    void fields(V&& v) {
      v("implement", plan.implement_agent), v("review", plan.review_agent), v("reviewFix", plan.review_fix_agent);
    }
  };

  template <class V>
  void fields(V&& v) {
    Agents agents{*this};
    v("maximumIterations", maximum_iterations), v("reviewCap", review_cap), v("skipReview", skip_review);
    v("verifyTimeoutSeconds", verify_timeout_seconds), v("cleanRoom", clean_room), v("agents", agents);
  }
};

// For `ralph task`.
struct TaskSettings {
  int max_restarts = 100;
  double restart_delay_seconds = 1;
  double child_wait_seconds = 300;
  double done_grace_seconds = 30;
  double poll_seconds = 1;
  std::optional<double> idle_timeout_seconds, run_timeout_seconds;  // unset: those of `agent`
  std::string agent;                                                // a name as in agent.fallback; empty: `agent`

  template <class V>
  void fields(V&& v) {
    v("maxRestarts", max_restarts), v("restartDelaySeconds", restart_delay_seconds);
    v("childWaitSeconds", child_wait_seconds), v("doneGraceSeconds", done_grace_seconds);
    v("pollSeconds", poll_seconds), v("idleTimeoutSeconds", idle_timeout_seconds);
    v("runTimeoutSeconds", run_timeout_seconds), v("agent", agent);
  }
};

// Which commands `ralph hooks pre-tool` lets an agent run. `deny` outranks `allow`, which outranks the categories.
struct CommandSettings {
  std::vector<std::string> allow, deny;    // the first words of commands; `*`: any one word
  std::map<std::string, bool> categories;  // of the command policy; absent: on

  template <class V>
  void fields(V&& v) {
    v("allow", allow), v("deny", deny), v("categories", categories);
  }
};

// What a sandbox provides in addition to what its program needs anyway. Specified in docs/sandbox.md.
struct SandboxSettings {
  std::string mode;                            // "on", "auto", "off"; empty: the command's own default
  std::string backend = "auto";                // "auto", "bubblewrap", "docker"
  double sync_seconds = 2.5;                   // how long files take to get from a virtual machine to the host
  std::string network = "allowlist";           // as to_string(Network)
  std::vector<std::string> hosts;              // in addition to the agents' own; see sandbox/allowlist
  std::map<std::string, std::string> resolve;  // name -> address, for the proxy
  std::string check_network = "none";
  bool checks_on_host = false;
  std::vector<std::string> environment;          // variables to pass on: "NAME", "PREFIX_*"
  std::vector<std::string> read_only, writable;  // "~/x", absolute, or relative to the project
  int processes = 1024;                          // 0: no limit
  int memory_mb = 0;                             // 0: three quarters of the machine's
  int cpu_percent = 0;                           // of one processor; 0: no limit

  template <class V>
  void fields(V&& v) {
    v("mode", mode), v("backend", backend), v("syncSeconds", sync_seconds), v("network", network), v("hosts", hosts);
    v("resolve", resolve), v("checkNetwork", check_network), v("checksOnHost", checks_on_host);
    v("environment", environment), v("readOnly", read_only), v("writable", writable), v("processes", processes);
    v("memoryMb", memory_mb), v("cpuPercent", cpu_percent);
  }
};

// A user-defined collector of diagnostics.
struct CollectorSettings {
  std::string name, command;  // run by sh -c
  std::string format = "sarif";
  std::string pattern;         // for the format "pattern"
  double timeout_seconds = 0;  // 0: DiagnosticsSettings::timeout_seconds

  template <class V>
  void fields(V&& v) {
    v("name", name), v("command", command), v("format", format), v("pattern", pattern);
    v("timeoutSeconds", timeout_seconds);
  }
};

// Conditions for a run to be complete.
struct CriteriaSettings {
  bool zero_errors = true, zero_warnings = false, zero_security = false, tests_pass = false;
  int stagnation_limit = 3;  // 0: none

  template <class V>
  void fields(V&& v) {
    v("zeroErrors", zero_errors), v("zeroWarnings", zero_warnings), v("zeroSecurity", zero_security);
    v("testsPass", tests_pass), v("stagnationLimit", stagnation_limit);
  }
};

struct DiagnosticsSettings {
  double timeout_seconds = 120;      // of each collector
  bool strict = false;               // the agent's completion tag does not override errors
  bool baseline = false;             // old errors don't keep a session going
  bool automatic = true;             // sessions continue while there are errors
  std::vector<std::string> exclude;  // patterns of paths, and names of collectors
  std::vector<CollectorSettings> collectors;
  std::vector<std::string> language_servers;  // queried in addition to the other collectors
  std::optional<CriteriaSettings> criteria;   // unset: runs ignore diagnostics

  template <class V>
  void fields(V&& v) {
    v("timeoutSeconds", timeout_seconds), v("strict", strict), v("baseline", baseline), v("auto", automatic);
    v("exclude", exclude), v("collectors", collectors), v("languageServers", language_servers);
    v("criteria", criteria);
  }
};

struct HooksSettings {
  CommandSettings commands;

  template <class V>
  void fields(V&& v) {
    v("commands", commands);
  }
};

// Whether to ask a person before running a project's commands. Only the user's own settings can set this.
enum class TrustMode { kAsk, kRequire, kOff };
template <>
inline constexpr auto kWords<TrustMode> = words({"ask", "require", "off"});

struct Settings {
  int maximum_iterations = 10;
  std::string completion_response = "DONE";
  int output_truncate_chars = 5000;
  bool stream_agent_output = true;
  bool include_iteration_count_in_prompt = false;
  AgentSettings agent;
  std::map<std::string, AgentDefinition> agents;  // by name, for agent.command and agent.fallback
  std::vector<GuardrailSettings> guardrails;
  ProtectSettings protect;
  std::optional<ScmSettings> scm;
  DiagnosticsSettings diagnostics;
  PlanSettings plan;
  TaskSettings task;
  HooksSettings hooks;
  SandboxSettings sandbox;
  BudgetSettings budget;
  JournalSettings journal;
  OutputSettings output;
  TrustMode trust = TrustMode::kAsk;
  std::vector<std::string> trusted_folders;  // files in them are trusted, whoever owns them

  template <class V>
  void fields(V&& v) {
    v("maximumIterations", maximum_iterations), v("completionResponse", completion_response);
    v("outputTruncateChars", output_truncate_chars), v("streamAgentOutput", stream_agent_output);
    v("includeIterationCountInPrompt", include_iteration_count_in_prompt), v("agent", agent), v("agents", agents);
    v("guardrails", guardrails), v("protect", protect), v("scm", scm), v("diagnostics", diagnostics), v("plan", plan);
    v("task", task), v("hooks", hooks), v("sandbox", sandbox), v("budget", budget), v("journal", journal);
    v("output", output), v("trust", trust), v("trustedFolders", trusted_folders);
  }
};

// The source of a value: "default", the user's own file, ".ralph/settings.json", ".ralph/settings.local.json", or a
// flag such as "-m".
struct Origin {
  std::string pointer;  // "/agent/command"
  std::string source;
};

struct LoadedSettings {
  Settings settings;
  json::value effective;           // the merged document with defaults, in schema order
  std::vector<Origin> origins;     // one per scalar or array of `effective`
  std::vector<std::string> files;  // the project's files that were read, in order
  std::string user_file;           // the user's own, if it was read
  json::object user, project;      // their contents, without what a project may not say
  std::vector<std::string> notes;  // for display: what was ignored, and why
};

// Command line flags as a JSON object in the shape of a settings file, and the flag behind each pointer.
struct Overrides {
  json::object values;
  std::map<std::string, std::string> flags;  // "/maximumIterations" -> "-m"

  // `pointer` has one or two keys.
  void set(const std::string& pointer, json::value value, std::string flag);
};

// What to do with an untrusted settings file of a project: it belongs to another user, or it is the local file and git
// tracks it.
enum class Distrusted { kRefused, kLeftOut };

// Reads the user's own settings (settings/owner.h), then .ralph/settings.json and .ralph/settings.local.json below
// `project` (each may be missing), checks each against the schema, merges them, applies the overrides and fills in
// defaults. Every error names the file, line and column, the path inside it, the value found, and what was expected.
// With kLeftOut, which hooks use, untrusted files are skipped and reported in `notes`.
Result<LoadedSettings> load_settings(const std::string& project, const Overrides& overrides = {},
                                     Distrusted distrusted = Distrusted::kRefused,
                                     const Environment& environment = Environment::of_this_process());

// The environment variables of all agents, whose values may be secrets.
std::map<std::string, std::string> secret_candidates(const Settings& settings);

std::string_view settings_schema();  // the JSON Schema, as shipped

}  // namespace ralph
