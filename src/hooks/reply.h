// A hook's reply in the protocol of its host.
#pragma once

#include <string>
#include <string_view>

#include "hooks/host.h"

namespace ralph {

struct HookReply {
  std::string out{};  // for standard output
  std::string err{};  // for standard error
  int exit_code = 0;
};

// The session may end. The user sees `message` if the protocol can show it; the model does not.
HookReply allow_stop(Protocol protocol, std::string_view message = {});

// The turn ends now, whatever the host's other hooks want, and the user sees `message`. If the protocol has no such
// reply, the session may end.
HookReply end_turn(Protocol protocol, std::string_view message);

// The session continues; the model sees the reason.
HookReply go_on(Protocol protocol, std::string_view reason);

// Adds `text` to the model's context, with a prompt or after a tool. `event` is the host's event (PostToolUse).
HookReply add_context(Protocol protocol, std::string_view event, std::string_view text);

// The prompt is not sent to the model; the user sees the reason.
HookReply refuse_prompt(Protocol protocol, std::string_view reason);

// The tool call is not made; the model sees the reason.
HookReply deny_tool(Protocol protocol, std::string_view reason);

// The host asks the user whether to make the tool call. Only for hosts with `can_ask`.
HookReply ask_about_tool(std::string_view question);

}  // namespace ralph
