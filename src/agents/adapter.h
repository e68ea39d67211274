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

// A hook that the agent calls in a run: a command that it starts at an event, in the host's own words.
struct AgentHook {
  std::string event;    // "PreToolUse"
  std::string matcher;  // of the tools; empty: the event has none
  std::string command;  // for a shell
  long long timeout = 0;
};

struct TurnOptions {
  bool events = true;                         // print a stream of events; otherwise only the final text
  std::string model{};                        // empty: the agent's default
  std::string resume{};                       // the session to continue; empty: a new one
  bool skip_permissions = false;              // never ask; for agents that ask by default
  std::string answer_file{};                  // where an agent with `writes_answer` is to put its last words
  std::optional<double> max_cost_usd{};       // for agents that can stop themselves
  std::span<const std::string> user_flags{};  // these override what ralph would pass
  std::span<const AgentHook> hooks{};         // besides those of the user's files
  std::string hooks_file{};                   // where those are, for an agent that reads them from a file

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
  std::string advice;  // what the user has to do
};

struct EnvironmentVariable {
  const char* name;
  const char* value;
};

// A flag for an agent that refuses whatever it would have to ask permission for, as `ralph init` offers it.
struct PermissionFlag {
  std::string_view flag;
  std::string_view effect;
};

// The output of a tool call that a hook has denied begins with `prefix` and has `infix` soon after it.
struct DeniedCall {
  std::string_view prefix;
  std::string_view infix{};
};

// What an agent needs in a sandbox, where the home is hidden and the environment cleared. Paths are below the home.
struct SandboxNeeds {
  std::span<const std::string_view> variables{};  // "ANTHROPIC_*": any that begins so
  // Files, or folders ("x/"), which it rewrites: copied into a private home. The logins are among them.
  std::span<const std::string_view> copied{};
  std::span<const std::string_view> read_only{};  // its settings: shown as they are
  std::span<const std::string_view> hosts{};      // its own services
  std::string_view vm_template{};  // of Docker Sandbox, by which it runs in a virtual machine; empty: none
  std::span<const std::string_view> vm_state{};  // below its home there: what stays if the machine is made anew
  bool vm_runs = false;  // the machine's own `run` starts it, with all permissions; else it is started by `exec`
};

// How an agent gets hooks for one run, besides those of the user's files.
struct HooksBy {
  bool flags = false;            // `arguments` passes on the hooks of its options
  std::string_view flag{};       // one of these; if the user's flags have it, there is no room for ralph's
  std::string_view variable{};   // names a file of the run with the hooks; if it is set, there is no room
  std::string_view value{"{}"};  // of the variable, with {} for the path of the file
  bool is_url = false;           // as in a URL
  std::string_view file{};       // the name of that file
  std::string_view taken_by{};   // a file of the system that the variable would hide: then there is no room
  bool by_root = false;          // it believes such a file only if nobody but root may write it, or a folder above it
  bool stops = true;             // it can be kept from stopping
  bool any() const { return flags || !variable.empty(); }
};

// A file or folder that makes the agent run programs, or says what it may do.
struct AgentFile {
  std::string_view path;  // in a project; that of a folder ends with "/"
  // Separated by blanks: the members of a JSON file that do so (empty: all of it), or what a folder has besides.
  std::string_view keys{};
  bool put_back = true;         // if another agent changed it; false: the change is only shown
  std::string_view variable{};  // of a file of the user's own: names the folder that `path` is in
  std::string_view folder{};    // that folder, below the home, if the variable is not set
};

struct Adapter {
  std::string_view name;            // also the name of its program
  std::string_view version_flag{};  // makes it print its version and end; empty: it has none
  PromptPath prompt = PromptPath::kStdin;
  bool takes_model = true;        // by --model
  bool tells_cost = false;        // its events say what a turn cost
  bool tells_tokens = true;       // its events say how many tokens a turn used
  bool ends_with_result = false;  // its stream has an event that ends a turn
  bool writes_answer = false;     // as plain text, its last words are in a file rather than among its output
  // nullptr: it prints plain text. The clock, which must outlive the parser, is for times such as "in 2 hours".
  std::unique_ptr<LineParser> (*make_parser)(const UsedBefore& before, const Clock& clock) = nullptr;
  TurnArguments (*arguments)(const TurnOptions& options, const HasFlag& has_flag) =
      [](const TurnOptions&, const HasFlag&) { return TurnArguments(); };
  StartFailure (*start_failure)(int exit_code, std::string_view standard_error) = [](int, std::string_view) {
    return StartFailure();
  };
  // The flag before the first prompt of an interactive session; empty: no flag; nullopt: it takes no first prompt.
  std::optional<std::string_view> interactive{};
  std::span<const EnvironmentVariable> environment{};  // set whenever ralph starts it
  std::span<const char* const> child_markers{};        // variables that tell its children that they run inside it
  std::span<const DeniedCall> denied_calls{};          // for hosts that report a denied call as a failed one
  std::span<const PermissionFlag> permission_flags{};  // empty: it needs none
  // Whether the user's flags say what it may do.
  bool (*sets_permissions)(const TurnOptions& options) = [](const TurnOptions&) { return false; };
  std::span<const std::string_view> free_tools{};  // what it may use without permission
  SandboxNeeds needs{};
  std::span<const AgentFile> files{};        // of a project; the more special ones first
  std::span<const AgentFile> users_files{};  // outside of it, which ralph never writes
  HooksBy hooks{};
  // Why it would refuse to start, if that is known beforehand; empty: it is not.
  std::string_view (*foreseen_refusal)(const TurnOptions& options, const Environment& environment, bool is_root) =
      [](const TurnOptions&, const Environment&, bool) { return std::string_view(); };
};

}  // namespace ralph
