// Bytes between two sockets, both ways, without ever waiting for one of them. They are moved by the kernel, through a
// pipe: no byte is copied into this process, but for requests whose end is watched.
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

  // What was read from the left already, and is to be written to the right first.
  void send_right(std::string bytes) { to_right_.first = std::move(bytes); }

  // Of what comes from the left, only this is passed on; the rest is dropped.
  void limit_right(RequestBody body) { to_right_.body = body; }

  // For poll(). One from which nothing is wanted is left out: its end would be told again and again.
  void add_to(std::vector<pollfd>& fds) const;

  // Moves what can be moved now. False: both ways are at their end, or one is broken.
  bool move();

 private:
  struct Pipe {
    Fd in, out;
  };
  struct Flow {
    std::string first;  // to be written before anything else
    size_t at = 0;      // what of it has been
    Pipe pipe;          // while there is something in it
    size_t piped = 0;   // bytes in it
    std::optional<RequestBody> body;
    bool ended = false;  // nothing more will be read
    bool shut = false;   // and the other side was told
    bool pending() const { return at < first.size() || piped > 0; }
  };
  static short events(const Flow& out, const Flow& in);
  static bool move(int from, int to, Flow& flow);
  static bool read_on(int from, Flow& flow);
  static bool copy_on(int from, Flow& flow);
  static bool write_on(int to, Flow& flow);
  static bool take_pipe(Flow& flow);
  static void give_back(Flow& flow);
  static std::vector<Pipe> spare_;  // empty pipes: making one costs as much as moving what is in it

  Fd left_, right_;
  Flow to_right_, to_left_;
};

// How many relays this process may have open files for. Raises its limit as far as it may.
size_t most_relays();

}  // namespace ralph
