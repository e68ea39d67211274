#include "hooks/host.h"

#include <algorithm>

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

bool is_hook(std::string_view name) {
  return name == "context-monitor" ||
         std::any_of(kClaudeWires.begin(), kClaudeWires.end(), [&](const HookWire& wire) { return wire.hook == name; });
}

// Past a character of a line for a shell, with its quotes or its backslash.
size_t past_character(std::string_view line, size_t at) {
  if (line[at] == '\\') return std::min(at + 2, line.size());
  if (line[at] != '\'' && line[at] != '"') return at + 1;
  const char quote = line[at];
  for (++at; at < line.size() && line[at] != quote; ++at) at += quote == '"' && line[at] == '\\' ? 1 : 0;
  return std::min(at + 1, line.size());
}

// The line up to the first thing that makes more of it than one simple command: ; && | > $( and their kin, a comment.
std::string_view first_command(std::string_view line) {
  for (size_t at = 0; at < line.size(); at = past_character(line, at)) {
    const bool is_comment = line[at] == '#' && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t');
    if (is_comment || std::string_view(";&|<>()`\n").find(line[at]) != std::string_view::npos)
      return line.substr(0, at);
  }
  return line;
}

size_t end_of_word(std::string_view line, size_t at) {
  at = std::min(line.find_first_not_of(" \t", at), line.size());
  while (at < line.size() && std::string_view(" \t;&|<>()\n").find(line[at]) == std::string_view::npos)
    at = past_character(line, at);
  return at;
}

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
  RalphHook found;
  if (const json::value* args = find(hook, "args"); args && args->is_array()) {
    // A program and its arguments, without a shell: some hosts can do that too.
    words.emplace_back(*command);
    for (const json::value& word : args->get_array()) words.emplace_back(word.is_string() ? word.get_string() : "");
  } else {
    const std::string_view line = trim(*command), simple = first_command(line);
    if (auto split = split_shell_words(simple)) words = *std::move(split);
    found.has_company = simple.size() < line.size();
  }
  if (words.size() < 3 || base_name(words[0]) != "ralph" || words[1] != "hooks" || !is_hook(words[2]))
    return std::nullopt;
  found.program = words[0];
  found.hook = words[2];
  return found;
}

std::string with_call(std::string_view line, std::string_view program, std::string_view hook) {
  size_t end = 0;
  for (int word = 0; word < 3; ++word) end = end_of_word(line, end);
  const size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  return fmt::format("{}{} hooks {}{}", line.substr(0, begin), quote_shell_words(std::array{std::string(program)}),
                     hook, line.substr(end));
}

bool is_cap_enough(std::string_view value) {
  return value == "0" || parse_count(value).value_or(0) >= kBlockCap;
}

}  // namespace ralph
