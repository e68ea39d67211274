// SHA-256 (FIPS 180-4), for hashes that let a third party verify that a text is unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ralph {

// A hash of bytes that arrive in parts.
class Sha256 {
 public:
  enum class By { kFastest, kArithmetic };  // kFastest: with the processor's SHA instructions, if any

  explicit Sha256(By by = By::kFastest) : plainly_(by == By::kArithmetic) {}

  void add(std::string_view bytes);
  std::string hex() const;  // of all bytes so far

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;  // less than a block
  std::uint64_t bytes_ = 0;
  bool plainly_;
};

std::string sha256_hex(std::string_view bytes);  // 64 lower-case digits

}  // namespace ralph
