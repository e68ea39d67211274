#include "hooks/reply.h"

#include "json/value.h"

namespace ralph {
namespace {

HookReply in_json(const json::object& object) {
  return {to_compact_json(object) + "\n"};
}

HookReply refuse(Protocol protocol, std::string_view reason) {
  if (protocol == Protocol::kExit) return {{}, std::string(reason) + "\n", 1};
  return in_json({{"decision", protocol == Protocol::kDeny ? "deny" : "block"}, {"reason", to_json_string(reason)}});
}

HookReply decide_on_tool(std::string_view decision, std::string_view reason) {
  return in_json({{"hookSpecificOutput", json::object{{"hookEventName", "PreToolUse"},
                                                      {"permissionDecision", to_json_string(decision)},
                                                      {"permissionDecisionReason", to_json_string(reason)}}}});
}

}  // namespace

HookReply allow_stop(Protocol protocol, std::string_view message) {
  if (message.empty()) return {};
  if (protocol == Protocol::kExit) return {std::string(message) + "\n"};
  return in_json({{"systemMessage", to_json_string(message)}});
}

HookReply end_turn(Protocol protocol, std::string_view message) {
  if (protocol == Protocol::kExit) return allow_stop(protocol, message);
  return in_json(
      {{"continue", false}, {"stopReason", to_json_string(message)}, {"systemMessage", to_json_string(message)}});
}

HookReply go_on(Protocol protocol, std::string_view reason) {
  return refuse(protocol, reason);
}

HookReply add_context(Protocol protocol, std::string_view event, std::string_view text) {
  if (protocol == Protocol::kExit) return {std::string(text) + "\n"};
  return in_json({{"hookSpecificOutput", json::object{{"hookEventName", to_json_string(event)},
                                                      {"additionalContext", to_json_string(text)}}}});
}

HookReply refuse_prompt(Protocol protocol, std::string_view reason) {
  return refuse(protocol, reason);
}

HookReply deny_tool(Protocol protocol, std::string_view reason) {
  return protocol == Protocol::kBlock ? decide_on_tool("deny", reason) : refuse(protocol, reason);
}

HookReply ask_about_tool(std::string_view question) {
  return decide_on_tool("ask", question);
}

}  // namespace ralph
