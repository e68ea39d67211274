// An agent as the settings describe it: its program, its adapter, and the process to start for a prompt. The engine
// runs that process.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/flag_probe.h"
#include "agents/registry.h"
#include "base/result.h"
#include "os/launch.h"

namespace ralph {

class Agent {
 public:
  struct Setup {
    std::string command;                 // a program, by name or path, or several words ("python3 agent.py")
    std::vector<std::string> flags{};    // each is split like shell words
    std::optional<PromptPath> prompt{};  // overrides the adapter's default
    std::map<std::string, std::string> env{};
    std::string kind{};    // the name of an adapter, or "custom"; empty: the program's name decides
    std::string stream{};  // the name of an adapter whose events it prints, or "text"; empty: its own adapter's
    std::string model{};
    std::string name{};  // its name in the settings; empty: its adapter's, or its command's if there is none
  };

  // Fails with kNotFound if there is no such program, with kInput if its adapter does not support the setup.
  static Result<Agent> make(const Setup& setup, const Environment& environment, const std::string& folder);

  const std::string& name() const { return name_; }
  const std::string& program() const { return program_; }
  const Adapter& adapter() const { return *adapter_; }
  const std::vector<std::string>& words() const {
    return words_;
  }  // of its command: the program and its fixed arguments
  const std::vector<std::string>& flags() const { return flags_; }  // the user's, split into words
  bool reports_cost() const { return stream_ && stream_->reports_cost; }
  bool reports_tokens() const { return stream_ && stream_->reports_tokens; }
  bool ends_with_result() const { return stream_ && stream_->ends_with_result; }

  // Later launches run without permission prompts, unless the user's flags set permissions.
  void skip_permissions() { skip_permissions_ = true; }

  // Later launches use these hooks. `plugin` is the program to load, for an agent whose hooks are a program. False if
  // the agent takes no hooks for a run, or if they would override something of the user's; see why_no_hooks().
  bool use_hooks(std::vector<AgentHook> hooks, std::string plugin = {});
  bool has_hooks() const { return !hooks_.empty(); }
  std::string why_no_hooks() const;  // "agent.flags has a --settings of its own"; empty: it takes hooks

  // The content of TurnOptions::hooks_file, for an agent that reads its hooks from a file; empty for others.
  const std::string& hooks_text() const { return hooks_text_; }

  // Why it would refuse to start, as far as that is known without starting it; empty: no reason is known.
  std::string foreseen_refusal() const;

  // The process to start. `extra` overrides every other source of its environment.
  Launch launch(const std::string& prompt, TurnOptions options = {},
                const std::map<std::string, std::string>& extra = {}) const;

  // The process of an interactive session with a first prompt. It omits the flags of the settings, which are for
  // non-interactive use; those of a custom agent belong to its command. Fails if the agent takes no first prompt.
  Result<Launch> interactive(const std::string& prompt) const;

  // A reader for its output: plain text if it prints no events or none are wanted.
  std::unique_ptr<AgentStream> make_stream(bool events, const UsedBefore& before = {}) const;
  bool prints_events(bool wanted) const { return wanted && stream_; }

 private:
  std::string name_;
  std::string program_;
  std::vector<std::string> words_;  // of the command
  std::vector<std::string> flags_;
  std::string model_;
  const Adapter* adapter_ = nullptr;
  const Adapter* stream_ = nullptr;  // whose events it prints; nullptr: plain text
  PromptPath prompt_ = PromptPath::kArgument;
  bool skip_permissions_ = false;
  std::vector<AgentHook> hooks_;
  std::string hooks_text_;
  Environment environment_;
  std::string folder_;
  std::shared_ptr<FlagProbe> probe_;
};

// The command that means the built-in agent of `ralph demo` in settings.
inline constexpr std::string_view kDemoAgentCommand = "ralph-demo-agent";

}  // namespace ralph
