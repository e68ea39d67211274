#include "sandbox/refusals.h"

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

TEST(Refusals, AreCountedByHostPortAndReason) {
  const ScratchFolder folder;
  const std::string path = folder / "log";
  {
    RefusalLog log(path);
    const SystemClock clock;
    log.add("a.example", 443, kNotListed, clock);
    log.add("a.example", 443, kNotListed, clock);
    log.add("a.example", 8443, kNotListed, clock);
    log.add("b.example", 443, kPrivateAddress, clock);
  }
  const std::vector<Refusal> refusals = read_refusals(path);
  ASSERT_EQ(refusals.size(), 3U);
  EXPECT_EQ(refusals[0].count, 2);
  EXPECT_TRUE(read_refusals(folder / "none").empty());
}

TEST(Refusals, AreToldWithTheLineThatHelps) {
  EXPECT_EQ(describe(Refusal{"x.example", 443, std::string(kNotListed), 3}),
            "blocked 3 requests to x.example:443 (not in the list of hosts); to allow it, add \"x.example\" to "
            "sandbox.hosts");
  EXPECT_EQ(describe(Refusal{"x.example", 8443, std::string(kNotListed), 1}),
            "blocked 1 request to x.example:8443 (not in the list of hosts); to allow it, add \"x.example:8443\" to "
            "sandbox.hosts");
  EXPECT_EQ(describe(Refusal{"2001:db8::1", 8443, std::string(kNotListed), 1}),
            "blocked 1 request to [2001:db8::1]:8443 (not in the list of hosts); to allow it, add "
            "\"[2001:db8::1]:8443\" to sandbox.hosts");
  EXPECT_EQ(describe(Refusal{"x.example", 80, std::string(kPrivateAddress), 1}),
            "blocked 1 request to x.example:80 (its address is a private one); to allow it, add \"x.example\" with its "
            "address to sandbox.resolve");
  EXPECT_EQ(
      describe(Refusal{"x.example", 443, std::string(kAnotherHost) + "y.example", 1}),
      "blocked 1 request to x.example:443 (TLS asks for another host: y.example); a tunnel carries TLS for its own "
      "host only");
  EXPECT_EQ(describe(Refusal{"x.example", 443, std::string(kNoTls), 1}),
            "blocked 1 request to x.example:443 (no TLS); port 443 carries TLS only");
}

}  // namespace
}  // namespace ralph
