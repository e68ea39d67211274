// SHA-256 (FIPS 180-4), for hashes that let a third party verify that a text is unchanged.
#pragma once

#include <string>
#include <string_view>

namespace ralph {

std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits

}  // namespace ralph
