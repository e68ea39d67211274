// An event as one line of JSON: docs/formats/events.md.
#pragma once

#include "agents/events.h"
#include "base/byte_buffer.h"

namespace ralph {

// A line contains only the beginning of a tool's output, and its full size.
inline constexpr size_t kToolOutputCharacters = 2000;

// Appends the event and a line feed. The line is valid JSON in UTF-8 whatever the event contains, and contains no
// control characters that a terminal would obey.
void append_event_line(ByteBuffer& out, const AgentEvent& event);

}  // namespace ralph
