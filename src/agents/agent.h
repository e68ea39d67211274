// An agent: a program that gets a prompt and does work. This file knows how each kind is started; running it is the
// engine's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/launch.h"

namespace ralph {

// How the prompt reaches the agent.
enum class PromptPath {
  kArgument,  // as its last argument, or on standard input when it is too large for one
  kStdin,     // on standard input
  kFile,      // by name of a file, as its last argument. The name is /dev/stdin: the prompt never touches the disk
};

// What is known of one kind of agent.
struct AgentKind {
  std::string_view name;
  std::vector<std::string_view> leading;   // arguments before the user's flags
  std::vector<std::string_view> trailing;  // arguments after them, right before the prompt
  PromptPath prompt = PromptPath::kArgument;
};

class Agent {
 public:
  // `command` is a program, by name or path, or several words ("python3 agent.py"). Its kind is told by the program's
  // name; one that is not known is "custom". Fails with kNotFound if there is no such program.
  struct Setup {
    std::string command;
    std::vector<std::string> flags;  // each is split like shell words
    std::optional<PromptPath> prompt;
    std::map<std::string, std::string> env;
  };
  static Result<Agent> make(const Setup& setup, const Environment& environment, const std::string& folder);

  const std::string& name() const { return name_; }  // "claude", "custom", ...
  const std::string& program() const { return program_; }

  // The process to start for this prompt. `extra` goes into its environment, over everything else.
  Launch launch(const std::string& prompt, const std::map<std::string, std::string>& extra) const;

 private:
  std::string name_;
  std::string program_;
  std::vector<std::string> arguments_;
  PromptPath prompt_ = PromptPath::kArgument;
  Environment environment_;
  std::string folder_;
};

// The kinds that ralph knows, by program name.
const std::vector<AgentKind>& known_agents();

// The built-in agent of `ralph demo`: settings name it as the command "ralph-demo-agent".
inline constexpr std::string_view kDemoAgentCommand = "ralph-demo-agent";

}  // namespace ralph
