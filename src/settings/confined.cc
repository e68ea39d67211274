#include "settings/confined.h"

#include <algorithm>

#include "base/text.h"

namespace ralph {
namespace {

template <class Object>
auto commands_in(Object& values) -> decltype(values.if_contains("hooks")->if_object()) {
  auto* hooks = values.if_contains("hooks");
  auto* members = hooks ? hooks->if_object() : nullptr;
  auto* commands = members ? members->if_contains("commands") : nullptr;
  return commands ? commands->if_object() : nullptr;
}

bool is_off(const json::object* commands, std::string_view category) {
  const json::value* categories = commands ? commands->if_contains("categories") : nullptr;
  return categories && find_bool(*categories, category) == false;
}

bool is_in(const json::value* list, const json::value& wanted) {
  const json::array* items = list ? list->if_array() : nullptr;
  return items && std::find(items->begin(), items->end(), wanted) != items->end();
}

// Whether the project allows commands that the user does not.
bool allows_more(const json::value& allow, const json::object* user) {
  const json::array* items = allow.if_array();
  return items && std::any_of(items->begin(), items->end(), [&](const json::value& command) {
           return !is_in(user ? user->if_contains("allow") : nullptr, command);
         });
}

}  // namespace

std::vector<std::string> confine(Layer& layer, const json::object& user, const std::string& user_file) {
  std::vector<std::string> lines;
  const std::string mine = user_file.empty() ? "~/.config/ralph/settings.json" : user_file;
  const auto ignored = [&](std::string_view what, std::string_view why) {
    lines.push_back(fmt::format("{}: {} is ignored: {}; move it to {}", layer.path, what, why, mine));
  };
  for (const std::string_view key : {"trust", "trustedFolders"}) {
    if (layer.values.erase(key) != 0) ignored(key, "only your own settings say whom you trust");
  }
  json::object* const commands = commands_in(layer.values);
  if (!commands) return lines;
  const json::object* const own = commands_in(user);
  constexpr std::string_view kLoosens = "a project may tighten the command policy, not loosen it";
  if (const json::value* allow = commands->if_contains("allow")) {
    if (allows_more(*allow, own)) ignored("hooks.commands.allow", kLoosens);
    commands->erase("allow");
  }
  json::value* const categories = commands->if_contains("categories");
  json::object* const switches = categories ? categories->if_object() : nullptr;
  std::vector<std::string> off;
  for (const auto& category : switches ? *switches : json::object()) {
    if (category.value() == false) off.emplace_back(category.key());
  }
  for (const std::string& name : off) {
    switches->erase(name);
    if (!is_off(own, name)) ignored(fmt::format("hooks.commands.categories.{} (false)", name), kLoosens);
  }
  return lines;
}

Status refuse_known_names(const Layer& layer) {
  const json::value* const agents = layer.values.if_contains("agents");
  boost::system::error_code none;
  const json::value* const kinds =
      parsed_settings_schema().find_pointer("/properties/agent/properties/kind/enum", none);
  for (const json::value& kind : kinds ? kinds->as_array() : json::array()) {
    const json::string& name = kind.as_string();
    if (name == "custom" || !agents || !find(*agents, name)) continue;
    return tl::unexpected(explain({{child_pointer("/agents", name), true,
                                    fmt::format("\"{}\" is the name of a known agent, and a project can't say what it "
                                                "means; give this one another name",
                                                std::string_view(name))}},
                                  layer));
  }
  return {};
}

void join_denied(json::object& merged, const json::object& user) {
  const json::object* const own = commands_in(user);
  const json::value* const denied = own ? own->if_contains("deny") : nullptr;
  json::object* const commands = commands_in(merged);
  json::value* const list = commands ? commands->if_contains("deny") : nullptr;
  if (!denied || !denied->is_array() || !list || !list->is_array()) return;
  for (const json::value& command : denied->get_array()) {
    if (!is_in(list, command)) list->get_array().push_back(command);
  }
}

}  // namespace ralph
