// An event as one line of JSON: docs/formats/events.md.
#pragma once

#include "agents/events.h"
#include "base/byte_buffer.h"

namespace ralph {

// Of a tool's output a line carries only the beginning, with the size of all of it.
inline constexpr size_t kToolOutputCharacters = 2000;

// Appends the event and a line feed. Valid JSON in UTF-8 whatever the event holds; nothing in it can steer a terminal.
void append_event_line(ByteBuffer& out, const AgentEvent& event);

}  // namespace ralph
