#include "agents/agent.h"

#include <unistd.h>

#include <algorithm>
#include <climits>

#include "base/text.h"

namespace ralph {
namespace {

// The words of a command. A string that names a program as a whole, blanks and all, is one word.
Result<std::vector<std::string>> command_words(const std::string& command, const Environment& environment,
                                               const std::string& folder) {
  if (resolve_program(command, environment, folder)) return std::vector<std::string>{command};
  auto words = split_shell_words(command);
  if (!words) return tl::unexpected(words.error());
  if (words->empty()) return fail(ErrorKind::kInput, "agent.command is blank; name a program, such as claude");
  return words;
}

Result<std::string> own_program() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  if (n <= 0) return fail(ErrorKind::kIo, "cannot find ralph's own program for the demo agent");
  return std::string(path, static_cast<size_t>(n));
}

// Whether the kernel takes one more argument of `size` bytes: there is a limit for each, and one for all of them and the
// environment together, pointers included.
bool fits_as_argument(size_t size, const Launch& launch) {
  if (size > kMaxArgumentBytes) return false;
  const long limit = ::sysconf(_SC_ARG_MAX);
  size_t total = 4096 + size + launch.folder.size();
  for (const std::string& word : launch.argv) total += word.size() + 1 + sizeof(char*);
  for (const std::string& line : launch.environment.as_lines()) total += line.size() + 1 + sizeof(char*);
  return limit <= 0 || total < static_cast<size_t>(limit);
}

}  // namespace

const std::vector<AgentKind>& known_agents() {
  // Claude, Codex, Gemini and opencode take the prompt on standard input: it has no size limit there, and a flag that
  // takes several values can't swallow it. Amp takes it after -x only.
  static const std::vector<AgentKind> kKinds = {
      {"claude", {"-p", "--output-format", "text"}, {}, PromptPath::kStdin},
      {"codex", {"exec", "--sandbox", "workspace-write"}, {"-"}, PromptPath::kStdin},
      {"amp", {"--dangerously-allow-all"}, {"-x"}, PromptPath::kArgument},
      {"gemini", {"--yolo", "--skip-trust"}, {}, PromptPath::kStdin},
      {"opencode", {"run"}, {}, PromptPath::kStdin},
      {kDemoAgentCommand, {}, {}, PromptPath::kStdin},
  };
  return kKinds;
}

Result<Agent> Agent::make(const Setup& setup, const Environment& environment, const std::string& folder) {
  Agent agent;
  agent.environment_ = environment;
  agent.folder_ = folder;
  for (const auto& [name, value] : setup.env) agent.environment_.set(name, value);

  std::vector<std::string> words;
  if (setup.command == kDemoAgentCommand) {
    TRY_VALUE(const std::string self, own_program());
    words = {self, "demo-agent"};
    agent.name_ = "demo";
  } else {
    TRY_VALUE(words, command_words(setup.command, agent.environment_, folder));
    agent.name_ = base_name(words[0]);
  }
  auto program = resolve_program(words[0], agent.environment_, folder);
  if (!program) return tl::unexpected(program.error());
  agent.program_ = *program;
  agent.arguments_ = words;

  const auto& kinds = known_agents();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const AgentKind& known) {
    return known.name == base_name(words[0]) || (known.name == kDemoAgentCommand && agent.name_ == "demo");
  });
  if (kind == kinds.end()) {
    agent.name_ = "custom";
  } else {
    agent.prompt_ = kind->prompt;
    agent.arguments_.insert(agent.arguments_.end(), kind->leading.begin(), kind->leading.end());
  }
  for (const std::string& flag : setup.flags) {
    TRY_VALUE(const auto parts, split_shell_words(flag));
    agent.arguments_.insert(agent.arguments_.end(), parts.begin(), parts.end());
  }
  if (kind != kinds.end()) {
    agent.arguments_.insert(agent.arguments_.end(), kind->trailing.begin(), kind->trailing.end());
  }
  if (setup.prompt) agent.prompt_ = *setup.prompt;
  return agent;
}

Launch Agent::launch(const std::string& prompt, const std::map<std::string, std::string>& extra) const {
  Launch launch;
  launch.argv = arguments_;
  launch.argv[0] = program_;
  launch.environment = environment_;
  for (const auto& [name, value] : extra) launch.environment.set(name, value);
  launch.folder = folder_;
  const bool fits = fits_as_argument(prompt.size(), launch) && prompt.find('\0') == std::string::npos;
  if (prompt_ == PromptPath::kArgument && fits) {
    launch.argv.push_back(prompt);
  } else {
    launch.input = prompt;
    if (prompt_ == PromptPath::kFile) launch.argv.emplace_back("/dev/stdin");
  }
  return launch;
}

}  // namespace ralph
