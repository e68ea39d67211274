#include "agents/registry.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace ralph {
namespace {

#define RALPH_AGENT_POINTER(constant, name) &(constant),
constexpr std::array kAdapters = {RALPH_AGENTS(RALPH_AGENT_POINTER)};
#undef RALPH_AGENT_POINTER

constexpr Adapter kCustom = {.name = "custom",
                             .prompt = PromptPath::kArgument,
                             .takes_model = false,
                             .reports_tokens = false,
                             .interactive = ""};

constexpr size_t kDenialBytes = 200;  // a denial is searched for only in the first bytes of an output

}  // namespace

bool TurnOptions::user_sets(std::initializer_list<std::string_view> flags) const {
  return std::ranges::any_of(user_flags, [&](const std::string& word) {
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    return is_one_of(name, flags);
  });
}

std::span<const Adapter* const> adapters() {
  return kAdapters;
}

const Adapter* find_adapter(std::string_view name) {
  const auto found =
      std::find_if(kAdapters.begin(), kAdapters.end(), [&](const Adapter* one) { return one->name == name; });
  return found == kAdapters.end() ? nullptr : *found;
}

const Adapter& custom_adapter() {
  return kCustom;
}

std::unique_ptr<LineParser> make_line_parser(std::string_view agent, const UsedBefore& before, const Clock* clock) {
  static const SystemClock system_clock;
  const Adapter* const adapter = find_adapter(agent);
  return adapter ? adapter->make_parser(before, clock ? *clock : system_clock) : nullptr;
}

void remove_child_variables(Environment& environment) {
  for (const Adapter* adapter : kAdapters) {
    for (const char* name : adapter->child_variables) environment.unset(name);
  }
}

bool is_denied_by_hook(std::string_view output) {
  output = output.substr(0, kDenialBytes);
  for (const Adapter* adapter : kAdapters) {
    for (const DeniedCall& call : adapter->denied_calls) {
      if (output.starts_with(call.prefix) && contains(output, call.infix)) return true;
    }
  }
  return false;
}

bool is_free_tool(std::string_view name) {
  return std::ranges::any_of(kAdapters, [&](const Adapter* adapter) { return is_one_of(name, adapter->free_tools); });
}

bool lacks_permissions(const Adapter& adapter, std::span<const std::string> flags) {
  if (adapter.permission_flags.empty()) return false;
  std::vector<std::string> words;
  for (const std::string& flag : flags) {
    const auto parts = split_shell_words(flag);
    if (parts) words.insert(words.end(), parts->begin(), parts->end());
  }
  return !adapter.sets_permissions({.user_flags = words});
}

std::string permission_choices(const Adapter& adapter) {
  std::vector<std::string> choices;
  for (const PermissionFlag& one : adapter.permission_flags)
    choices.push_back(fmt::format("{} ({})", one.flag, one.effect));
  return join(choices, ", or ");
}

}  // namespace ralph
