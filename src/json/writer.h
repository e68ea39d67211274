// How strings are written in JSON: the one escaper.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_buffer.h"

namespace ralph {

// Appends `text` as a JSON string, in quotes. It is valid UTF-8 whatever `text` holds (what is not becomes U+FFFD), and
// nothing in it can steer a terminal: DEL and the C1 controls are escaped too, which JSON does not ask for.
void append_json_string(ByteBuffer& out, std::string_view text);

// The same without the quotes.
std::string json_escaped(std::string_view text);

}  // namespace ralph
