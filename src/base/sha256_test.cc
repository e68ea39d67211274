#include "base/sha256.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

TEST(Sha256, AgreesWithThePublishedExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// From 56 bytes on, the padding needs another block.
TEST(Sha256, PadsEveryLength) {
  EXPECT_EQ(sha256_hex(std::string(55, 'x')), "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_NE(sha256_hex(std::string(56, 'x')), sha256_hex(std::string(57, 'x')));
  EXPECT_NE(sha256_hex(std::string(64, 'x')), sha256_hex(std::string(63, 'x')));
}

TEST(Sha256, DoesNotDependOnHowTheBytesArrive) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(i * 7);
  for (const size_t step : {1, 3, 63, 64, 65, 128, 299}) {
    Sha256 hash;
    for (size_t at = 0; at < bytes.size(); at += step) hash.add(std::string_view(bytes).substr(at, step));
    EXPECT_EQ(hash.hex(), sha256_hex(bytes)) << step;
    EXPECT_EQ(hash.hex(), sha256_hex(bytes)) << "asked again";
  }
}

// Passes whatever instructions the processor has.
TEST(Sha256, IsTheSameWithAndWithoutInstructionsForIt) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    Sha256 fast, plain(Sha256::By::kArithmetic);
    fast.add(bytes);
    plain.add(bytes);
    ASSERT_EQ(fast.hex(), plain.hex()) << i << " bytes";
    bytes += static_cast<char>(i * i + i / 7);
  }
}

}  // namespace
}  // namespace ralph
