// What the two ends of an annex say to each other, over a pair of pipes. An annex is the image of a task's folder in a
// virtual machine, kept by one process inside and one outside (task/annex).
#pragma once

#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

enum class AnnexWord {
  kPut,     // a file, at `path`, has these bytes; `number`: it can be executed
  kGone,    // there is none at `path` any more
  kGrown,   // these bytes were appended to the file
  kBus,     // these messages are new on the bus at `path`
  kJob,     // a request for a child run; `number` is that of the one who asks
  kAnswer,  // what the supervisor says to the one with this number
  kLeft,    // the one with this number is gone
  kLevel,   // from outside: look at everything, tell it, and say the same in return
};

struct AnnexFrame {
  AnnexWord word = AnnexWord::kLevel;
  std::string path{};  // below the folder that both have; see task/annex
  long long number = 0;
  std::string bytes{};
};

inline constexpr size_t kMostAnnexBytes = 40 << 20;  // of a frame; a request for a job is smaller

class AnnexChannel {
 public:
  AnnexChannel() = default;
  AnnexChannel(Fd in, Fd out);  // made non-blocking

  bool is_open() const { return static_cast<bool>(in_); }
  void close() { *this = AnnexChannel(); }

  void send(const AnnexFrame& frame);  // written as far as it goes, the rest by go_on()

  void add_to(std::vector<pollfd>& fds) const;  // two entries
  // Reads and writes what can be. False: the other end is gone, or what it says is no frame.
  bool go_on();
  std::optional<AnnexFrame> take();  // the next one that has arrived

 private:
  bool write_on();

  Fd in_, out_;
  std::string read_, unwritten_;
  size_t at_ = 0;  // what of read_ was taken
  bool bad_ = false;
};

}  // namespace ralph
