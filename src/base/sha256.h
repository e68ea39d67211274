// SHA-256 (FIPS 180-4): for hashes by which a third person can tell that a text was not changed.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits

}  // namespace ralph
