#include "hooks/host.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

bool is_hook(std::string_view name) {
  if (name == "context-monitor") return true;
  for (const Host& host : kHosts) {
    for (const HookWire& wire : host.wires) {
      if (wire.hook == name) return true;
    }
  }
  return false;
}

// The position after one character of a shell command, with its quotes or backslash.
size_t past_character(std::string_view line, size_t at) {
  if (line[at] == '\\') return std::min(at + 2, line.size());
  if (line[at] != '\'' && line[at] != '"') return at + 1;
  const char quote = line[at];
  for (++at; at < line.size() && line[at] != quote; ++at) at += quote == '"' && line[at] == '\\' ? 1 : 0;
  return std::min(at + 1, line.size());
}

// The line up to the first thing that makes it more than one simple command: ; && | > $( and the like, or a comment.
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

std::vector<PolicyHost> policy_hosts() {
  std::vector<PolicyHost> hosts;
  for (const Host& host : kHosts) hosts.push_back({host.name, host.protected_files, host.block_cap_variable});
  return hosts;
}

std::string enclosing_session_id(const Environment& environment) {
  for (const Host& host : kHosts) {
    if (host.session_variable.empty()) continue;
    if (const auto session = environment.get(std::string(host.session_variable))) return *session;
  }
  return {};
}

std::optional<Protocol> protocol_from(std::string_view name) {
  if (name == kExitProtocol) return Protocol::kExit;
  const Host* const host = find_host(name);
  return host ? std::optional(host->protocol) : std::nullopt;
}

std::string command_of(const Host& host, const HookWire& wire, std::string_view program) {
  return fmt::format("{} hooks {}{}", quote_shell_words(std::array{std::string(program)}), wire.hook,
                     &host == &kHosts[0] ? "" : fmt::format(" --protocol {}", host.name));
}

long long timeout_of(const Host& host, const HookWire& wire) {
  return static_cast<long long>(wire.seconds) * host.timeout_unit;
}

json::object group_of(const Host& host, const HookWire& wire, std::string_view program) {
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
    // Some hosts can also start a program with arguments, without a shell.
    words.emplace_back(*command);
    for (const json::value& word : args->get_array()) words.emplace_back(word.is_string() ? word.get_string() : "");
  } else {
    const std::string_view line = trim(*command), simple = first_command(line);
    if (auto split = split_shell_words(simple)) words = *std::move(split);
    found.does_more = simple.size() < line.size();
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

bool is_cap_raised(const Host& host, std::string_view value) {
  return value == "0" || parse_count(value).value_or(0) > host.block_cap;
}

}  // namespace ralph
