// Amp: `amp … -x PROMPT`. -x and the prompt must be the last arguments. A prompt that is too large for an argument goes
// to standard input, which `-x` without a value reads.
#include "agents/claude.h"
#include "agents/registry.h"
#include "base/text.h"

namespace ralph {
namespace {

TurnArguments amp_arguments(const TurnOptions& options, const HasFlag&) {
  TurnArguments result;
  if (!options.resume.empty()) result.before.insert(result.before.end(), {"threads", "continue", options.resume});
  if (options.events) result.before.emplace_back("--stream-json");
  if (!options.user_sets({"--dangerously-allow-all"})) result.before.emplace_back("--dangerously-allow-all");
  result.after = {"-x"};
  return result;
}

StartFailure amp_start_failure(int, std::string_view error) {
  if (contains(error, "getUserInfo failed: 401") || contains(error, "amp login")) {
    return {FailureKind::kAuthentication, "amp is not logged in; run 'amp login', or set AMP_API_KEY"};
  }
  return {};
}

// For a sandbox.
constexpr std::string_view kAmpNeededVariables[] = {"AMP_*"};
constexpr std::string_view kAmpCopied[] = {".local/share/amp/secrets.json"};
constexpr std::string_view kAmpReadOnly[] = {".config/amp"};
constexpr std::string_view kAmpHosts[] = {"ampcode.com", "*.ampcode.com"};
constexpr SandboxNeeds kAmpNeeds = {kAmpNeededVariables, kAmpCopied, kAmpReadOnly, kAmpHosts};

constexpr std::string_view kAmpProgramKeys =
    "amp.permissions amp.hooks amp.mcpServers amp.mcpPermissions amp.dangerouslyAllowAll amp.commands.allowlist "
    "amp.commands.strict amp.tools.enable amp.tools.disable amp.toolbox.path amp.guardedFiles.allowlist";
constexpr AgentFile kAmpFiles[] = {{".amp/settings.json", kAmpProgramKeys}, {".amp/settings.jsonc"}, {".amp/plugins/"}};
constexpr AgentFile kAmpUsersFiles[] = {{"amp/settings.json", kAmpProgramKeys, false, "XDG_CONFIG_HOME", ".config"}};

}  // namespace

// Its stream is a subset of Claude Code's: no costs, no message ids, errors as one string.
constinit const Adapter kAmp = {.name = "amp",
                                .version_flag = "--version",
                                .prompt = PromptPath::kArgument,
                                .takes_model = false,
                                .ends_with_result = true,
                                .make_parser = make_claude_parser,
                                .arguments = amp_arguments,
                                .start_failure = amp_start_failure,
                                .needs = kAmpNeeds,
                                .files = kAmpFiles,
                                .users_files = kAmpUsersFiles};

}  // namespace ralph
