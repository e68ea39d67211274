// Whatever a host sends: nothing crashes, a rejected payload yields a reason, and every answer is one line of valid
// JSON.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hooks/payload.h"
#include "hooks/reply.h"
#include "json/value.h"
#include "session/session_note.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string fault;
  const ralph::HookPayload payload = ralph::payload_from(text, &fault);
  require(fault.empty() || (payload.session.empty() && payload.prompt.empty() && !payload.last_message));
  require(payload.cwd.empty() || payload.cwd[0] == '/');
  require(payload.background_tasks.size() <= text.size());
  const std::string name = ralph::file_name_of_session(payload.session);
  require(!name.empty() && name.size() <= 80 && name.find_first_of(std::string_view("/.\0", 3)) == std::string::npos);

  using ralph::Protocol;
  for (const Protocol protocol : {Protocol::kBlock, Protocol::kDeny}) {
    for (const ralph::HookReply& reply :
         {ralph::go_on(protocol, text), ralph::add_context(protocol, payload.event, text),
          ralph::refuse_prompt(protocol, payload.prompt), ralph::deny_tool(protocol, payload.tool_name)}) {
      require(reply.exit_code == 0 && reply.err.empty());
      require(reply.out.find('\n') == reply.out.size() - 1);
      require(ralph::parse_json(reply.out, "reply").has_value());
    }
  }
  return 0;
}
