#include "cli/questions.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"

namespace ralph::cli {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t signal_arrived = 0;

void note_signal(int) {
  signal_arrived = 1;
}

tl::unexpected<Error> interrupted() {
  // The cursor is after the prompt.
  std::fputs("\n", stdout);
  std::fflush(stdout);
  return fail(ErrorKind::kInterrupted, "interrupted; nothing was written");
}

bool has_control_characters(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

}  // namespace

TerminalQuestions::TerminalQuestions() {
  signal_arrived = 0;
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int signal : kSignals) sigaddset(&blocked, signal);
  // Blocked except inside ppoll, so that no signal is lost between the last check and the wait.
  sigprocmask(SIG_BLOCK, &blocked, &old_mask_);
  struct sigaction action{};
  action.sa_handler = note_signal;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &old_actions_[i]);
}

TerminalQuestions::~TerminalQuestions() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &old_actions_[i], nullptr);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

Result<std::string> TerminalQuestions::ask(std::string_view prompt) {
  for (;;) {
    const std::string shown = printable_lines(prompt);  // it may contain the name of a branch or a file
    std::fwrite(shown.data(), 1, shown.size(), stdout);
    std::fflush(stdout);
    TRY_VALUE(const std::string line, read_line());
    const std::string_view answer = trim(line);
    if (has_control_characters(answer)) {
      say("That line contains control characters (arrow keys do not move the cursor here). Please type it again.");
    } else if (find_invalid_utf8(answer) != std::string_view::npos) {
      say("That line is not valid UTF-8. Please type it again.");
    } else {
      return std::string(answer);
    }
  }
}

void TerminalQuestions::say(std::string_view line) {
  const std::string shown = printable_lines(line);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  std::fputs("\n", stdout);
}

Result<std::string> TerminalQuestions::read_line() {
  sigset_t open = old_mask_;
  for (const int signal : kSignals) sigdelset(&open, signal);
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd input{STDIN_FILENO, POLLIN, 0};
    const int ready = ::ppoll(&input, 1, nullptr, &open);
    if (signal_arrived) return interrupted();
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail(ErrorKind::kIo, "cannot wait for an answer: {}", errno_text(errno));
    char bytes[4096];
    const ssize_t n = ::read(STDIN_FILENO, bytes, sizeof bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return interrupted();  // end of input, or the terminal is gone
    unread_.append(bytes, static_cast<size_t>(n));
  }
}

Result<bool> ask_yes_or_no(Questions& questions, std::string_view prompt) {
  for (;;) {
    TRY_VALUE(const std::string answer, questions.ask(prompt));
    const std::string word = to_lower(answer);
    if (word == "y" || word == "yes") return true;
    if (word.empty() || word == "n" || word == "no") return false;
    questions.say("Please answer y or n.");
  }
}

}  // namespace ralph::cli
