// A separate terminal for a program that must not have ralph's. Keys typed in ralph's terminal go to the program's, and
// the program's output comes back. Ctrl-C is a character for the program's own terminal, which signals the program.
#pragma once

#include <memory>
#include <string>
#include <termios.h>

#include "os/files.h"

namespace ralph {

class TerminalRelay {
 public:
  // `in` and `out` must be terminals. `in` is in raw mode until the relay is destroyed.
  static Result<std::unique_ptr<TerminalRelay>> open(int in, int out);
  TerminalRelay(const TerminalRelay&) = delete;
  TerminalRelay& operator=(const TerminalRelay&) = delete;
  ~TerminalRelay();

  int slave() const { return slave_.get(); }  // for the program's standard streams
  void close_slave() { slave_.close(); }      // call it once the program has started: otherwise its end is not noticed

  // For poll(): readable while move() has something to do.
  int descriptor() const { return ready_.get(); }
  void move();

  // Passes on the last output of the program, after it has ended.
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

// For the new program: makes the terminal at standard input the controlling terminal of its own session.
Status take_terminal();

}  // namespace ralph
