// JSON that is part of the program.
#pragma once

#include <string_view>

#include "json/value.h"

namespace ralph {

// Parses it without a look for what people get wrong. Its values are never freed. Throws if it is no JSON, which a test
// would have seen.
const json::value& parse_own_json(std::string_view text);

}  // namespace ralph
