// Asks a person questions, one line each.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ralph::cli {

class Questions {
 public:
  virtual ~Questions() = default;

  // Prints the prompt, waits for a line and returns it trimmed. Ctrl-C, SIGTERM and the end of input are errors of kind
  // kInterrupted.
  virtual Result<std::string> ask(std::string_view prompt) = 0;
  // Prints a whole line.
  virtual void say(std::string_view line) = 0;
};

// A terminal on standard input and output. It stays in its usual line mode, so nothing needs to be restored when the
// program ends. While the object lives, SIGINT, SIGTERM and SIGHUP only end a question, never the program. Only one
// object may exist at a time.
class TerminalQuestions final : public Questions {
 public:
  TerminalQuestions();
  ~TerminalQuestions() override;
  TerminalQuestions(const TerminalQuestions&) = delete;
  TerminalQuestions& operator=(const TerminalQuestions&) = delete;

  Result<std::string> ask(std::string_view prompt) override;
  void say(std::string_view line) override;

 private:
  Result<std::string> read_line();

  std::string unread_;  // input after the last line returned
  sigset_t old_mask_{};
  struct sigaction old_actions_[3]{};
};

// Blank means no; asks again if the answer is neither yes nor no.
Result<bool> ask_yes_or_no(Questions& questions, std::string_view prompt);

}  // namespace ralph::cli
