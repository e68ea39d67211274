#include "agents/hook_settings.h"

#include "json/value.h"

namespace ralph {

std::string hook_settings(std::span<const AgentHook> hooks) {
  json::object events;
  for (const AgentHook& hook : hooks) {
    json::object group;
    if (!hook.matcher.empty()) group["matcher"] = to_json_string(hook.matcher);
    group["hooks"] = json::array{
        json::object{{"type", "command"}, {"command", to_json_string(hook.command)}, {"timeout", hook.timeout}}};
    json::value& groups = events[hook.event];
    if (!groups.is_array()) groups = json::array();
    groups.get_array().push_back(std::move(group));
  }
  return to_compact_json(json::object{{"hooks", std::move(events)}});
}

}  // namespace ralph
