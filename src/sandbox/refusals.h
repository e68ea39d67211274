// The log of requests that a sandbox's proxy refused: a file with one JSON object per line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/clock.h"
#include "os/files.h"

namespace ralph {

// Each refusal is appended in a single write. The size is bounded, so a client can't fill the disk.
class RefusalLog {
 public:
  explicit RefusalLog(const std::string& path);  // empty: nothing is written
  void add(const std::string& host, int port, std::string_view why, const Clock& clock);

 private:
  Fd file_;
  size_t written_ = 0;
};

// Reasons for refusals, as they appear in the log.
inline constexpr std::string_view kNotListed = "not in the list of hosts";
inline constexpr std::string_view kPrivateAddress = "its address is a private one";
inline constexpr std::string_view kAnotherHost = "TLS asks for another host: ";  // followed by its name
inline constexpr std::string_view kNoTls = "no TLS";

// Entries of a log: how often each host was refused.
struct Refusal {
  std::string host;
  int port = 0;
  std::string why;
  int count = 0;
};
std::vector<Refusal> read_refusals(const std::string& log);

// "x:443", "[::1]:443".
std::string host_and_port(std::string_view host, int port);

// "blocked 3 requests to x:443 (not in the list of hosts); to allow it, add "x" to sandbox.hosts"
std::string describe(const Refusal& refusal);

}  // namespace ralph
