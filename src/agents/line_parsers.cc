#include "agents/line_parsers.h"

namespace ralph {

std::unique_ptr<LineParser> make_line_parser(std::string_view stream, const UsedBefore& before, const Clock* clock) {
  static const SystemClock system_clock;
  const Clock& time = clock ? *clock : system_clock;
  if (stream == "claude") return make_claude_parser(before, time);
  if (stream == "codex") return make_codex_parser(before, time);
  if (stream == "amp") return make_amp_parser(before, time);
  if (stream == "gemini") return make_gemini_parser(time);
  if (stream == "opencode") return make_opencode_parser(time);
  return nullptr;
}

}  // namespace ralph
