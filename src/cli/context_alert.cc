#include "cli/context_alert.h"

#include "hooks/context_monitor.h"

namespace ralph::cli {

int tell_of_context(std::string_view hook, const Environment& environment, const HookPayload& payload,
                    Protocol protocol) {
  std::vector<std::string> complaints;
  const std::string alert = ContextMonitor(environment, complaints).after_tool(payload);
  for (const std::string& complaint : complaints) complain(hook, complaint);
  if (alert.empty()) return 0;
  return send(add_context(protocol, payload.event.empty() ? "PostToolUse" : payload.event, alert));
}

}  // namespace ralph::cli
