// A terminal of its own for a program that is not to have ralph's: what is typed in one goes to the other, and what the
// program prints comes back. Ctrl-C is a character for the program's own terminal, which signals what runs there.
#pragma once

#include <memory>
#include <string>
#include <termios.h>

#include "os/files.h"

namespace ralph {

class TerminalRelay {
 public:
  // `in` and `out` must be terminals. `in` gives every key at once from now on, until the relay goes.
  static Result<std::unique_ptr<TerminalRelay>> open(int in, int out);
  TerminalRelay(const TerminalRelay&) = delete;
  TerminalRelay& operator=(const TerminalRelay&) = delete;
  ~TerminalRelay();

  int slave() const { return slave_.get(); }  // for the program's standard streams
  void close_slave() { slave_.close(); }      // when it has started, so that its end can be told

  // Can be read while move() has something to do.
  int descriptor() const { return ready_.get(); }
  void move();

  // What the program has printed last, when it has ended.
  void finish();

 private:
  TerminalRelay(int in, int out) : in_(in), out_(out) {}
  struct Flow {
    std::string bytes;
    bool ended = false;
  };
  static void pass(int from, int to, Flow& flow);
  void listen();
  void adopt_size();

  int in_, out_;
  Fd master_, slave_, ready_;
  Flow typed_, printed_;
  termios before_{};
  bool is_raw_ = false;
};

// In the new program: makes the terminal at standard input that of a session of its own.
Status take_terminal();

}  // namespace ralph
