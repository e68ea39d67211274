// Rules that rows can't express, about the machine: privileges, resources, other processes, the network.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/known_output.h"
#include "policy/rules.h"
#include "policy/script_view.h"

namespace ralph {
namespace {

bool has_user_bit(const std::string& mode) {
  const bool is_octal = !mode.empty() && mode.find_first_not_of("01234567") == std::string::npos;
  if (is_octal) return mode.size() >= 4 && (mode[mode.size() - 4] - '0') & 6;
  const size_t op = mode.find_first_of("+=");
  return op != std::string::npos && mode.find('s', op) != std::string::npos;
}

// Code in interpreted languages that forks endlessly.
constexpr std::string_view kForkBombs[] = {"fork while fork",      "while True: os.fork()", "while 1: os.fork()",
                                           "while True:os.fork()", "fork while 1",          "loop { fork"};

// The size argument of `fallocate -l 100G` or `head -c`, in gigabytes; 0 if there is none.
double gigabytes(std::string_view text) {
  const std::string number(text);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const char unit = to_lower({end, 1})[0];
  return unit == 't' ? value * 1000 : unit == 'g' ? value : value / (unit == 'm' ? 1000 : 1e9);
}

}  // namespace

Finding sets_user_bit(const Subject& subject) {
  return has_user_bit(subject.operand(0)) ? "it makes a program run as its owner" : Finding();
}

Finding changes_owner(const Subject& subject) {
  const std::string owner = subject.operand(0);
  if (subject.program == "chown" && is_one_of(owner.substr(0, owner.find(':')), {"root", "0"}))
    return "it gives files to root";
  if (const auto path = subject.foreign_operand()) return fmt::format("it changes the owner of {}", *path);
  return std::nullopt;
}

Finding mounts_whole_disk(const Subject& subject) {
  for (size_t i = 1; i < subject.command.words.size(); ++i) {
    const std::string& word = subject.command.word(i);
    if (word.starts_with("/:/") || word == "/:" || contains(word, "source=/,") || word.starts_with("-v/:"))
      return "it gives this machine's whole disk to a container";
  }
  return std::nullopt;
}

Finding spawns_forever(const Subject& subject) {
  if (subject.command.calls_itself) return "a function that calls itself in a pipe or in the background never ends";
  if (subject.command.spawned_forever) return "an endless loop starts processes and never waits for them";
  return std::nullopt;
}

Finding fills_disk(const Subject& subject) {
  bool to_file = false;
  for (const ShellRedirection& one : subject.command.redirections) {
    to_file |= one.op.starts_with('>') && one.fd != 2 && !one.target.text.starts_with("/dev/") && one.op != ">&";
  }
  if (subject.program == "yes") return to_file ? "it fills the disk" : Finding();
  const bool endless = std::ranges::any_of(subject.read(), [](const std::string& path) {
    return is_one_of(path, {"/dev/zero", "/dev/urandom", "/dev/random"});
  });
  if (!endless) return std::nullopt;
  if (subject.is("tail sort")) return "it fills the memory";
  if (subject.program != "dd") return to_file ? "it fills the disk" : Finding();
  const bool limited =
      std::ranges::any_of(subject.operands, [](const std::string& one) { return one.starts_with("count="); });
  const std::vector<std::string>& written = subject.written();
  return !limited && !written.empty() && written[0] != "/dev/null" ? "it fills the disk" : Finding();
}

Finding makes_huge_file(const Subject& subject) {
  const bool is_length = subject.program == "fallocate";
  const auto size = subject.value(is_length ? 'l' : 's', is_length ? "--length" : "--size");
  if (size && gigabytes(*size) >= 50) return fmt::format("a file of {} may fill the disk", *size);
  return std::nullopt;
}

Finding forks_forever(const Subject& subject) {
  if (!is_interpreter(subject.program)) return std::nullopt;
  const auto text = program_text_of(subject.command, known_input(subject.reading, subject.command));
  const auto forks = [&](std::string_view phrase) { return text && contains(*text, phrase); };
  return std::ranges::any_of(kForkBombs, forks) ? "it starts processes without end" : Finding();
}

Finding ends_by_signal(const Subject& subject) {
  for (const std::string& path : subject.written()) {
    if (path == "/proc/sysrq-trigger") return "it can restart or halt this machine";
  }
  if (subject.program != "kill") return std::nullopt;
  // -1 is a signal if it comes first; as a process id it means every process.
  bool signal_given = false;
  for (size_t i = 1; i < subject.command.words.size(); ++i) {
    const std::string& word = subject.command.word(i);
    const bool is_process = signal_given || subject.command.words.size() == 2;
    if (word == "-1" && is_process) return "-1 means every process of the user";
    if (word == "1" && (is_process || i > 1)) return "process 1 is the system itself";
    if (word.starts_with('-')) signal_given = true;
    if (word == "-s" || word == "-n") ++i;
  }
  return std::nullopt;
}

Finding ends_by_pattern(const Subject& subject) {
  for (size_t i = 1; i < subject.command.words.size(); ++i) {
    const std::string& word = subject.command.word(i);
    if (starts_with_any(word, {"-u", "-U", "--euid", "--uid", "-t", "-G"}) &&
        !starts_with_any(word, {"-USR", "-TERM", "-Ttin"}))
      return "it ends all processes of a user";
  }
  for (const std::string& operand : subject.operands) {
    if (is_one_of(operand, {".", ".*", "", "*", "sh", "bash", "zsh", "sshd", "systemd", "init", "tmux", "screen",
                            "python", "python3", "java", "Xorg", "dockerd", "dbus"})) {
      return fmt::format("{} matches processes that are not yours", operand.empty() ? "an empty pattern" : operand);
    }
  }
  return std::nullopt;
}

Finding changes_interfaces(const Subject& subject) {
  for (const std::string& operand : subject.operands) {
    if (is_listed("set add del delete flush replace change append", operand)) return "it changes interfaces or routes";
  }
  return std::nullopt;
}

}  // namespace ralph
