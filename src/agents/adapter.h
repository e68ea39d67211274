// The contract between ralph and one agent: its command line, its environment, its event stream, and what its failures
// mean. agents/<name>.cc fills in one Adapter; agents/registry.h has the table of all of them.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/events.h"
#include "agents/stream.h"
#include "os/environment.h"

namespace ralph {

// How the prompt reaches the agent.
enum class PromptPath {
  kArgument,  // the last argument; standard input if the prompt is too large for an argument
  kStdin,
  kFile,  // the last argument is the file name /dev/stdin, so the prompt never touches the disk
};

// A hook for one run: a command that the agent starts at an event. The names are the agent's own.
struct AgentHook {
  std::string event;    // "PreToolUse"
  std::string matcher;  // selects tools; empty: the event has none
  std::string command;  // a shell command
  long long timeout = 0;
};

struct TurnOptions {
  bool events = true;                         // print a stream of events; otherwise only the final text
  std::string model{};                        // empty: the agent's default
  std::string resume{};                       // the session to continue; empty: a new one
  bool skip_permissions = false;              // never ask; for agents that ask by default
  std::string answer_file{};                  // where an agent with `writes_answer` puts its final message
  std::optional<double> max_cost_usd{};       // for agents that can stop themselves
  std::span<const std::string> user_flags{};  // override what ralph would pass
  std::span<const AgentHook> hooks{};         // in addition to those in the user's files
  std::string hooks_file{};                   // contains them, for an agent that reads them from a file

  // Whether the user's flags contain one of `flags`, alone or with a value ("--sandbox=x").
  bool user_sets(std::initializer_list<std::string_view> flags) const;
};

// The arguments of one turn. The user's flags go between `before` and `after`.
struct TurnArguments {
  std::vector<std::string> before;
  std::vector<std::string> after;
};

// Whether the installed version of the agent has a flag. Call it only where versions differ: it may start the agent.
using HasFlag = std::function<bool(std::string_view help_command, std::string_view flag)>;

// A failure before the stream began, recognised by the exit code and the end of standard error.
struct StartFailure {
  FailureKind kind = FailureKind::kNone;
  std::string advice;  // what the user should do
};

struct EnvironmentVariable {
  const char* name;
  const char* value;
};

// A flag that `ralph init` offers for an agent that otherwise refuses everything it would have to ask permission for.
struct PermissionFlag {
  std::string_view flag;
  std::string_view effect;
};

// Identifies a tool call that a hook denied: its output begins with `prefix`, soon followed by `infix`.
struct DeniedCall {
  std::string_view prefix;
  std::string_view infix{};
};

// What an agent needs in a sandbox, where the home folder is hidden and the environment is cleared. Paths are relative
// to the home folder.
struct SandboxNeeds {
  std::span<const std::string_view> variables{};  // "ANTHROPIC_*": any with this prefix
  // Files, or folders ("x/"), that it rewrites, logins included: copied into a private home.
  std::span<const std::string_view> copied{};
  std::span<const std::string_view> read_only{};  // its settings: visible, but not writable
  std::span<const std::string_view> hosts{};      // its own services
  std::string_view vm_template{};  // the Docker Sandbox template to run it in a virtual machine; empty: none
  std::span<const std::string_view> vm_state{};  // paths below its home there, kept when the machine is recreated
  bool vm_runs = false;  // started by the machine's own `run`, with all permissions; otherwise by `exec`
};

// How an agent gets hooks for one run, in addition to those in the user's files. ralph passes none if that would
// override something of the user's.
struct HookDelivery {
  bool flags = false;             // `arguments` passes on TurnOptions::hooks
  std::string_view flag{};        // the flag that does so; not used if the user's flags contain it
  std::string_view variable{};    // names the run's file with the hooks; not used if already set
  std::string_view value{"{}"};   // of the variable; {} stands for the path of the file
  bool is_url = false;            // the path is URL-encoded
  std::string_view file{};        // the name of that file
  std::string_view hides_file{};  // a system file that the variable would hide; not used if it exists
  bool by_root = false;           // it trusts the file only if nobody but root can write to it or to a folder above it
  bool can_block_stop = true;     // a hook can keep it from stopping
  bool any() const { return flags || !variable.empty(); }
};

// A file or folder that makes the agent run programs, or sets its permissions.
struct AgentFile {
  std::string_view path;  // relative to the project; a folder ends with "/"
  // Separated by blanks: the members of a JSON file that do so (empty: all of it), or entries of a folder that do not.
  std::string_view keys{};
  bool put_back = true;         // restore it if another agent changed it; false: only report the change
  std::string_view variable{};  // for a file of the user: names the folder that contains `path`
  std::string_view folder{};    // its default, relative to the home folder
};

struct Adapter {
  std::string_view name;            // also the name of its program
  std::string_view version_flag{};  // makes it print its version and exit; empty: none
  PromptPath prompt = PromptPath::kStdin;
  bool takes_model = true;        // accepts --model
  bool reports_cost = false;      // its events report the cost of a turn
  bool reports_tokens = true;     // its events report the tokens that a turn used
  bool ends_with_result = false;  // its stream has an event that ends a turn
  bool writes_answer = false;     // in plain text mode, it writes its final message to a file, not to its output
  // nullptr: it prints plain text. The clock resolves times such as "in 2 hours" and must outlive the parser.
  std::unique_ptr<LineParser> (*make_parser)(const UsedBefore& before, const Clock& clock) = nullptr;
  TurnArguments (*arguments)(const TurnOptions& options, const HasFlag& has_flag) =
      [](const TurnOptions&, const HasFlag&) { return TurnArguments(); };
  StartFailure (*start_failure)(int exit_code, std::string_view standard_error) = [](int, std::string_view) {
    return StartFailure();
  };
  // The flag before the first prompt of an interactive session; empty: no flag; nullopt: it takes no first prompt.
  std::optional<std::string_view> interactive{};
  std::span<const EnvironmentVariable> environment{};  // set whenever ralph starts it
  std::span<const char* const> child_variables{};      // variables that tell its children that they run inside it
  std::span<const DeniedCall> denied_calls{};          // for hosts that report a denied call as a failed one
  std::span<const PermissionFlag> permission_flags{};  // empty: it needs none
  // Whether the user's flags set its permissions.
  bool (*sets_permissions)(const TurnOptions& options) = [](const TurnOptions&) { return false; };
  std::span<const std::string_view> free_tools{};  // tools that need no permission
  SandboxNeeds needs{};
  std::span<const AgentFile> files{};        // in a project; more specific ones first
  std::span<const AgentFile> users_files{};  // outside the project; ralph never writes them
  HookDelivery hooks{};
  // Why it would refuse to start, if that is known in advance; empty: no reason is known.
  std::string_view (*foreseen_refusal)(const TurnOptions& options, const Environment& environment, bool is_root) =
      [](const TurnOptions&, const Environment&, bool) { return std::string_view(); };
};

}  // namespace ralph
