#include "session/hook_wiring.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

struct HostFacts {
  std::string_view name, title, folder, file;
  std::string_view more;  // arguments of every hook
  long long unit;         // of its time-outs, in a second
};

constexpr std::array kFacts = {
    HostFacts{"claude", "Claude Code", ".claude", "settings.json", "", 1},
    HostFacts{"codex", "Codex", ".codex", "hooks.json", " --protocol codex", 1},
    HostFacts{"gemini", "Gemini CLI", ".gemini", "settings.json", " --protocol gemini", 1000},
};

constexpr const HostFacts& facts_of(Host host) {
  return kFacts.at(static_cast<size_t>(host));
}

// A tool call that failed is work too, and Claude Code has an event of its own for it.
constexpr std::array kClaudeWires = {
    HookWire{"SessionStart", "", "session-start", 10},     HookWire{"UserPromptSubmit", "", "user-prompt", 10},
    HookWire{"PreToolUse", ".*", "pre-tool", 10},          HookWire{"PostToolUse", ".*", "post-tool", 10},
    HookWire{"PostToolUseFailure", ".*", "post-tool", 10}, HookWire{"Stop", "", "stop", 60},
};
// The other names are Claude Code's.
constexpr std::array kCodexWires = {
    HookWire{"SessionStart", "", "session-start", 10},
    HookWire{"UserPromptSubmit", "", "user-prompt", 10},
    HookWire{"PreToolUse", ".*", "pre-tool", 10},
    HookWire{"PostToolUse", ".*", "post-tool", 10},
    HookWire{"Stop", "", "stop", 60},
};
constexpr std::array kGeminiWires = {
    HookWire{"SessionStart", "", "session-start", 10},
    HookWire{"BeforeAgent", "", "user-prompt", 10},
    HookWire{"BeforeTool", ".*", "pre-tool", 10},
    HookWire{"AfterTool", ".*", "post-tool", 10},
    HookWire{"AfterAgent", "", "stop", 60},
};

}  // namespace

std::string_view name_of(Host host) {
  return facts_of(host).name;
}

std::string_view title_of(Host host) {
  return facts_of(host).title;
}

std::string_view folder_of(Host host) {
  return facts_of(host).folder;
}

std::string_view file_of(Host host) {
  return facts_of(host).file;
}

std::optional<Host> host_from(std::string_view name) {
  for (const Host host : kHosts) {
    if (name_of(host) == name) return host;
  }
  return std::nullopt;
}

std::span<const HookWire> wires_of(Host host) {
  if (host == Host::kClaude) return kClaudeWires;
  if (host == Host::kCodex) return kCodexWires;
  return kGeminiWires;
}

std::string command_of(Host host, const HookWire& wire, std::string_view program) {
  return fmt::format("{} hooks {}{}", quote_shell_words(std::array{std::string(program)}), wire.hook,
                     facts_of(host).more);
}

long long timeout_of(Host host, const HookWire& wire) {
  return wire.seconds * facts_of(host).unit;
}

bool runs_same_hook_once(Host host) {
  return host != Host::kCodex;
}

json::object group_of(Host host, const HookWire& wire, std::string_view program) {
  json::object group;
  if (!wire.matcher.empty()) group["matcher"] = wire.matcher;
  group["hooks"] = json::array{json::object{{"type", "command"},
                                            {"command", to_json_string(command_of(host, wire, program))},
                                            {"timeout", timeout_of(host, wire)}}};
  return group;
}

std::optional<RalphHook> ralph_hook_in(const json::value& hook) {
  const auto command = find_string(hook, "command");
  if (!command) return std::nullopt;
  std::vector<std::string> words;
  if (const json::value* args = find(hook, "args"); args && args->is_array()) {
    // A program and its arguments, without a shell: some hosts can do that too.
    words.emplace_back(*command);
    for (const json::value& word : args->get_array()) words.emplace_back(word.is_string() ? word.get_string() : "");
  } else if (const auto split = split_shell_words(*command)) {
    words = *split;
  }
  if (words.size() < 3 || base_name(words[0]) != "ralph" || words[1] != "hooks") return std::nullopt;
  return RalphHook{words[0], words[2]};
}

bool is_cap_enough(std::string_view value) {
  return value == "0" || parse_count(value).value_or(0) >= kBlockCap;
}

}  // namespace ralph
