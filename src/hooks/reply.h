// How a hook answers its host: one codec per protocol. A reply is what goes to standard output and the exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ralph {

enum class Protocol {
  kClaude,  // exit 0 and decision JSON
  kCodex,   // the same words
  kGemini,  // AfterAgent and its kin: "deny" instead of "block"
  kExit,    // exit 1 goes on, exit 0 stops; the reason on standard error
};
std::optional<Protocol> protocol_from(std::string_view name);
inline constexpr std::string_view kProtocolNames = "claude|codex|gemini|exit";

struct HookReply {
  std::string out{};  // for standard output
  std::string err{};  // for standard error
  int exit_code = 0;
};

// The session may end. `message` is shown to the user where the protocol has a way; the model does not see it.
HookReply allow_stop(Protocol protocol, std::string_view message = {});

// The session goes on, and the model is told why.
HookReply go_on(Protocol protocol, std::string_view reason);

// The model is told something more, with a prompt or after a tool. `event` is the hook's own name (PostToolUse).
HookReply add_context(Protocol protocol, std::string_view event, std::string_view text);

// A prompt is not sent to the model; the user sees why.
HookReply refuse_prompt(Protocol protocol, std::string_view reason);

// A tool call is not made; the model is told why.
HookReply deny_tool(Protocol protocol, std::string_view reason);

}  // namespace ralph
