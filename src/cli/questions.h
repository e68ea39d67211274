// Asking a person questions, one line each.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ralph::cli {

class Questions {
 public:
  virtual ~Questions() = default;

  // Prints the prompt and waits for a line, which comes back trimmed. Ctrl-C, SIGTERM and the end of input are an error
  // of kind kInterrupted.
  virtual Result<std::string> ask(std::string_view prompt) = 0;
  // Prints a whole line.
  virtual void say(std::string_view line) = 0;
};

// A terminal on standard input and output. It stays in its usual line mode, so there is nothing to restore however the
// program ends. While the object lives, SIGINT, SIGTERM and SIGHUP only end a question; they cannot end the program in
// the middle of something else. One at a time.
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

  std::string unread_;  // what was typed or pasted after the last line
  sigset_t old_mask_{};
  struct sigaction old_actions_[3]{};
};

// Yes or no, no when blank; asks again when it is neither.
Result<bool> ask_yes_or_no(Questions& questions, std::string_view prompt);

}  // namespace ralph::cli
