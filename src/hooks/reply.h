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

// The turn ends now, whatever other hooks of the host want; the user sees `message`, in one place or the other. Where a
// host has nothing of the kind, the session may end.
HookReply end_turn(Protocol protocol, std::string_view message);

// The session continues, and the model is told why.
HookReply go_on(Protocol protocol, std::string_view reason);

// Adds `text` to the model's context, with a prompt or after a tool. `event` is the host's event (PostToolUse).
HookReply add_context(Protocol protocol, std::string_view event, std::string_view text);

// The prompt is not sent to the model; the user sees why.
HookReply refuse_prompt(Protocol protocol, std::string_view reason);

// The tool call is not made; the model is told why.
HookReply deny_tool(Protocol protocol, std::string_view reason);

// The user is asked whether the tool call is made, in a host that can ask.
HookReply ask_about_tool(std::string_view question);

}  // namespace ralph
