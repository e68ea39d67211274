// The only escaper for JSON strings.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_buffer.h"

namespace ralph {

// Appends `text` as a quoted JSON string. Invalid UTF-8 becomes U+FFFD. The result can't control a terminal: DEL and
// the C1 controls are escaped too, which JSON does not require.
void append_json_string(ByteBuffer& out, std::string_view text);

// The same without the quotes.
std::string json_escaped(std::string_view text);

}  // namespace ralph
