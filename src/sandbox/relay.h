// Relays bytes between two sockets in both directions without ever blocking on either. The kernel moves them through a
// pipe, so no byte is copied into this process, except for requests whose end must be detected.
#pragma once

#include <optional>
#include <poll.h>
#include <string>
#include <vector>

#include "os/files.h"
#include "sandbox/request_body.h"

namespace ralph {

class Relay {
 public:
  Relay(Fd left, Fd right) : left_(std::move(left)), right_(std::move(right)) {}
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();

  // Bytes already read from the left, to be written to the right first.
  void send_right(std::string bytes) { to_right_.first = std::move(bytes); }

  // Passes on only this part of what comes from the left, and drops the rest.
  void limit_right(RequestBody body) { to_right_.body = body; }

  // For poll(). A side from which nothing is wanted is left out: poll() would report its end again and again.
  void add_to(std::vector<pollfd>& fds) const;

  // Moves what can be moved now. False: both directions have ended, or one is broken.
  bool move();

 private:
  struct Pipe {
    Fd in, out;
  };
  struct Flow {
    std::string first;  // to be written before anything else
    size_t at = 0;      // how much of it has been written
    Pipe pipe;          // while it contains something
    size_t piped = 0;   // bytes in it
    std::optional<RequestBody> body;
    bool ended = false;  // nothing more will be read
    bool shut = false;   // the other side was shut down, too
    bool pending() const { return at < first.size() || piped > 0; }
  };
  static short events(const Flow& out, const Flow& in);
  static bool move(int from, int to, Flow& flow);
  static bool read_on(int from, Flow& flow);
  static bool copy_on(int from, Flow& flow);
  static bool write_on(int to, Flow& flow);
  static bool take_pipe(Flow& flow);
  static void give_back(Flow& flow);
  static std::vector<Pipe> spare_;  // empty pipes: creating one costs as much as moving its content

  Fd left_, right_;
  Flow to_right_, to_left_;
};

// How many relays this process can have files open for. Raises the limit as far as allowed.
size_t most_relays();

}  // namespace ralph
