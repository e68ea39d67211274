// Bytes between two sockets, both ways, without ever waiting for one of them.
#pragma once

#include <poll.h>
#include <string>
#include <vector>

#include "os/files.h"

namespace ralph {

class Relay {
 public:
  Relay(Fd left, Fd right) : left_(std::move(left)), right_(std::move(right)) {}

  // What was read from the left already, and is to be written to the right first.
  void send_right(std::string bytes) { to_right_.begin_with(std::move(bytes)); }
  void send_left(std::string bytes) { to_left_.begin_with(std::move(bytes)); }

  int left() const { return left_.get(); }
  int right() const { return right_.get(); }
  short left_events() const { return events(to_right_, to_left_); }
  short right_events() const { return events(to_left_, to_right_); }

  // For poll(). One from which nothing is wanted is left out: its end would be told again and again.
  void add_to(std::vector<pollfd>& fds) const {
    fds.push_back({left_events() != 0 ? left() : -1, left_events(), 0});
    fds.push_back({right_events() != 0 ? right() : -1, right_events(), 0});
  }

  // Moves what can be moved now. False: both ways are at their end, or one is broken.
  bool move();

 private:
  struct Flow {
    std::string bytes;  // a buffer that keeps its size, because making it anew costs as much as moving what is in it
    size_t at = 0, end = 0;  // what of it is still to be written
    bool ended = false;      // nothing more will be read
    bool shut = false;       // and the other side was told
    bool pending() const { return at < end; }
    void begin_with(std::string first) {
      bytes = std::move(first);
      end = bytes.size();
    }
  };
  static short events(const Flow& out, const Flow& in);
  static bool move(int from, int to, Flow& flow);

  Fd left_, right_;
  Flow to_right_, to_left_;
};

Status set_nonblocking(int fd);

// A listener at a path of any length, which is replaced, for its owner only.
Result<Fd> listen_at(const std::string& path);

// A connection to it.
Result<Fd> connect_to(const std::string& path);

}  // namespace ralph
