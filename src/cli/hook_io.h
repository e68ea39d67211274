// One call of a hook: what its host sent, and the reply. A hook never breaks its host: it reports errors on standard
// error and in the project's .ralph/loop/hooks.log, and the host continues as if there were no hook.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "hooks/payload.h"
#include "hooks/reply.h"
#include "journal/run_folder.h"

namespace ralph::cli {

inline constexpr Option kHookOptions[] = {{.name = "protocol",
                                           .letter = 0,
                                           .value = "NAME",
                                           .help = "The host whose protocol the reply uses (default claude).",
                                           .choices = kProtocolChoices}};

inline constexpr Option kDeadlineOption{"deadline", 0, "SECONDS", "The host's timeout for this hook (default 600)."};

struct HookCall {
  HookCall(std::string_view name, const Arguments& arguments);

  // Reads the payload from standard input, for a few seconds at most, and reports what is wrong with it. Its `cwd` is
  // the host's, or else our own; empty if neither is usable.
  const HookPayload& read();

  // How long the host lets this hook run (--deadline), and how much of that is left, with a margin for the reply.
  Status set_deadline(const Arguments& arguments);
  Milliseconds time_left() const;

  // Whether ralph runs this agent. Then that run does the looping.
  bool is_inside_run() const { return !enclosing_run_id(environment).empty(); }

  // Reports errors on standard error and in the project's log.
  void complain(std::string_view what) const;
  void complain(const std::vector<std::string>& all) const;

  // Adds `text` to the model's context, and returns the exit code. `event` is used if the host does not name it.
  int add_context(std::string_view event, std::string_view text) const;

  const std::string_view hook;  // stop, pre-tool, ...
  const Protocol protocol;
  const Host* const host;  // nullptr: unknown, the protocol is "exit"
  const Environment environment = Environment::of_this_process();
  HookPayload payload{};
  std::string project{};  // of a loop started in `payload.cwd`; empty if there is no folder
  Milliseconds deadline{600'000};
};

// Writes the reply and returns the exit code.
int send(const HookReply& reply);

}  // namespace ralph::cli
