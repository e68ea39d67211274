// How one kind of agent is spoken to: its command line, what its environment needs, and what its way of failing means.
// One file per agent; `ralph` has one row for each in adapters().
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/events.h"
#include "os/environment.h"

namespace ralph {

// How the prompt reaches the agent.
enum class PromptPath {
  kArgument,  // as its last argument, or on standard input when it is too large for one
  kStdin,     // on standard input
  kFile,      // by name of a file, as its last argument. The name is /dev/stdin: the prompt never touches the disk
};

// What is wanted of one turn.
struct TurnWishes {
  bool events = true;                         // a stream of events; otherwise its final words as text
  std::string model{};                        // empty: the agent's own choice
  std::string resume{};                       // a session to go on with; empty: a new one
  bool skip_permissions = false;              // nobody is there to be asked; for agents that ask by default
  std::optional<double> max_cost_usd{};       // for agents that can stop themselves
  std::span<const std::string> user_flags{};  // what the user says stands over what ralph would say

  // One of these stands among the user's flags, alone or with a value ("--sandbox=x").
  bool user_says(std::initializer_list<std::string_view> flags) const;
};

// The arguments of one turn. The user's flags stand between `before` and `after`.
struct TurnArguments {
  std::vector<std::string> before;
  std::vector<std::string> after;
};

// Whether the installed version of the agent has a flag; asked only where versions differ.
using HasFlag = std::function<bool(std::string_view help_command, std::string_view flag)>;

// A failure told by the exit code and the end of standard error, for what agents say before their stream begins.
struct StartFailure {
  FailureKind kind = FailureKind::kNone;
  std::string advice;  // what the user has to do
};

struct Adapter {
  std::string_view name;    // "claude", also the program's name
  std::string_view stream;  // of make_line_parser(); empty: text only
  PromptPath prompt = PromptPath::kArgument;
  bool tells_cost = false;  // its events tell what a turn cost
  bool tells_tokens = false;
  bool ends_with_result = false;  // its stream has an event that says that a turn is over
  TurnArguments (*arguments)(const TurnWishes& wishes, const HasFlag& has_flag);
  void (*prepare)(Environment& environment);  // for its non-interactive use
  StartFailure (*start_failure)(int exit_code, std::string_view standard_error);
  // What stands before a first prompt when a person is to talk to it, apart from the model; nothing: it takes none.
  std::optional<std::string_view> interactive{};
};

std::span<const Adapter* const> adapters();
const Adapter* find_adapter(std::string_view name);  // nullptr: not one of them

// Any other command: its flags and the prompt, its output plain text.
const Adapter& custom_adapter();

// The five, each in its own file.
extern const Adapter kClaude, kCodex, kAmp, kGemini, kOpencode;

// Variables by which an agent tells its own children that they run inside it. An agent that ralph starts is no child of
// the one that ralph was started from, and must not take itself for one.
void leave_host_agent(Environment& environment);

}  // namespace ralph
