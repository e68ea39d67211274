// An agent as the settings describe it: which program, how it is spoken to, and the process to start for a prompt.
// Running it is the engine's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/adapter.h"
#include "agents/flag_probe.h"
#include "agents/stream.h"
#include "base/result.h"
#include "os/launch.h"

namespace ralph {

class Agent {
 public:
  struct Setup {
    std::string command;                 // a program, by name or path, or several words ("python3 agent.py")
    std::vector<std::string> flags{};    // each is split like shell words
    std::optional<PromptPath> prompt{};  // instead of the kind's own way
    std::map<std::string, std::string> env{};
    std::string kind{};    // "claude", ...; empty: told by the program's name
    std::string stream{};  // what it prints: a kind's name or "text"; empty: as its kind does
    std::string model{};
    std::string name{};  // how the settings call it; empty: its kind
  };

  // Fails with kNotFound if there is no such program, with kInput if the kind has no way to do what is asked.
  static Result<Agent> make(const Setup& setup, const Environment& environment, const std::string& folder);

  const std::string& name() const { return name_; }
  const std::string& program() const { return program_; }
  const Adapter& adapter() const { return *adapter_; }
  bool tells_cost() const { return tells_cost_; }
  bool tells_tokens() const { return tells_tokens_; }
  bool ends_with_result() const { return ends_with_result_; }

  // From now on it is started so that it asks for no permission, unless the user's flags decide that.
  void skip_permissions() { skip_permissions_ = true; }

  // The process to start. `extra` goes into its environment, over everything else.
  Launch launch(const std::string& prompt, TurnWishes wishes = {},
                const std::map<std::string, std::string>& extra = {}) const;

  // The process to start for a person to talk to, with a first prompt. The flags of the settings are left out, because
  // they are for its use without a person; a custom agent's belong to its command. Fails if it takes no first prompt.
  Result<Launch> interactive(const std::string& prompt) const;

  // How to read what it prints; text if its kind has no events or none were asked for.
  std::unique_ptr<AgentStream> make_stream(bool events, const UsedBefore& before = {}) const;
  bool prints_events(bool wanted) const { return wanted && !stream_.empty(); }

 private:
  std::string name_;
  std::string program_;
  std::vector<std::string> words_;  // of the command
  std::vector<std::string> flags_;
  std::string stream_;  // empty: text
  std::string model_;
  const Adapter* adapter_ = nullptr;
  PromptPath prompt_ = PromptPath::kArgument;
  bool tells_cost_ = false, tells_tokens_ = false, ends_with_result_ = false, skip_permissions_ = false;
  Environment environment_;
  std::string folder_;
  std::shared_ptr<FlagProbe> probe_;
};

// The built-in agent of `ralph demo`: settings name it as the command "ralph-demo-agent".
inline constexpr std::string_view kDemoAgentCommand = "ralph-demo-agent";

}  // namespace ralph
