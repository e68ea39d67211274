// The protocol between the two ends of an annex, over a pair of pipes. An annex is the mirror of a task's folder in a
// virtual machine, kept by one process inside and one outside (task/annex).
#pragma once

#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

enum class AnnexWord {
  kPut,     // the file at `path` has these bytes; `number` is 1 if it is executable
  kGone,    // the file at `path` was removed
  kGrown,   // these bytes were appended to the file
  kBus,     // these messages are new on the bus at `path`
  kJob,     // a request for a child run; `number` identifies the client
  kAnswer,  // the supervisor's answer to the client with this number
  kLeft,    // the client with this number is gone
  kLevel,   // from outside: scan everything, send the changes, then echo this frame
};

struct AnnexFrame {
  AnnexWord word = AnnexWord::kLevel;
  std::string path{};  // relative to the folder that both have; see task/annex
  long long number = 0;
  std::string bytes{};
};

inline constexpr size_t kMostAnnexBytes = 40 << 20;  // in a frame; a job request is smaller

class AnnexChannel {
 public:
  AnnexChannel() = default;
  AnnexChannel(Fd in, Fd out);  // sets both to non-blocking

  bool is_open() const { return static_cast<bool>(in_); }
  void close() { *this = AnnexChannel(); }

  void send(const AnnexFrame& frame);  // writes as much as possible; go_on() writes the rest

  void add_to(std::vector<pollfd>& fds) const;  // two entries
  // Reads and writes as much as possible. False if the other end is gone or has sent an invalid frame.
  bool go_on();
  std::optional<AnnexFrame> take();  // the next frame that has arrived completely

 private:
  bool write_on();

  Fd in_, out_;
  std::string read_, unwritten_;
  size_t at_ = 0;  // how much of read_ was taken
  bool bad_ = false;
};

}  // namespace ralph
