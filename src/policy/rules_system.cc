// Rules about the machine: privileges, resources, other processes, packages and services, the network.
#include <algorithm>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/known_output.h"
#include "policy/rules.h"
#include "policy/script_view.h"

namespace ralph {
namespace {

bool asks_only(const Subject& subject) {
  return subject.has("--help --version");
}

bool sets_user_bit(const std::string& mode) {
  const bool is_octal = !mode.empty() && mode.find_first_not_of("01234567") == std::string::npos;
  if (is_octal) return mode.size() >= 4 && (mode[mode.size() - 4] - '0') & 6;
  const size_t op = mode.find_first_of("+=");
  return op != std::string::npos && mode.find('s', op) != std::string::npos;
}

// Programs of interpreters that fork without end.
constexpr std::string_view kForkBombs[] = {"fork while fork",      "while True: os.fork()", "while 1: os.fork()",
                                           "while True:os.fork()", "fork while 1",          "loop { fork"};

// The size given to `fallocate -l 100G` or `head -c`, in gigabytes; 0 if there is none.
double gigabytes(std::string_view text) {
  const std::string number(text);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const char unit = to_lower({end, 1})[0];
  return unit == 't' ? value * 1000 : unit == 'g' ? value : value / (unit == 'm' ? 1000 : 1e9);
}

}  // namespace

Finding changes_privileges(const Subject& subject) {
  if (subject.is("sudo su doas pkexec runuser gosu sudoedit visudo run0")) {
    return asks_only(subject) ? Finding() : fmt::format("{} runs things as another user", subject.program);
  }
  if (subject.program == "chmod" && sets_user_bit(subject.operand(0))) return "it makes a program run as its owner";
  if (subject.is(
          "setcap useradd usermod userdel adduser deluser groupadd groupmod gpasswd passwd chpasswd vipw nsenter")) {
    return asks_only(subject) ? Finding() : fmt::format("{} changes users or their rights", subject.program);
  }
  if (subject.program == "chown" || subject.program == "chgrp") {
    const std::string owner = subject.operand(0);
    if (subject.program == "chown" && is_one_of(owner.substr(0, owner.find(':')), {"root", "0"}))
      return "it gives files to root";
    if (const auto path = subject.foreign_operand()) return fmt::format("it changes the owner of {}", *path);
  }
  if (subject.is("docker podman nerdctl") && (subject.operand(0) == "run" || subject.operand(0) == "create")) {
    if (subject.option("--privileged") || subject.has("--pid=host"))
      return "a privileged container is root on this machine";
    for (size_t i = 1; i < subject.command.words.size(); ++i) {
      const std::string& word = subject.command.word(i);
      if (word.starts_with("/:/") || word == "/:" || contains(word, "source=/,") || word.starts_with("-v/:"))
        return "it gives this machine's whole disk to a container";
    }
  }
  return std::nullopt;
}

Finding exhausts_resources(const Subject& subject) {
  if (subject.command.calls_itself) return "a function that calls itself in a pipe or in the background never ends";
  if (subject.command.spawned_forever) return "an endless loop starts processes and never waits for them";
  bool to_file = false;
  for (const ShellRedirection& one : subject.command.redirections) {
    to_file |= one.op.starts_with('>') && one.fd != 2 && !one.target.text.starts_with("/dev/") && one.op != ">&";
  }
  if (subject.program == "yes" && to_file) return "it fills the disk";
  const std::vector<std::string> read = subject.read();
  const bool endless = std::ranges::any_of(
      read, [](const std::string& path) { return is_one_of(path, {"/dev/zero", "/dev/urandom", "/dev/random"}); });
  if (endless && to_file && subject.is("cat tee cp base64 xxd od")) return "it fills the disk";
  if (endless && subject.is("tail sort")) return "it fills the memory";
  if (subject.program == "dd" && endless) {
    const std::vector<std::string> written = subject.written();
    const bool limited =
        std::ranges::any_of(subject.operands, [](const std::string& one) { return one.starts_with("count="); });
    if (!limited && !written.empty() && written[0] != "/dev/null") return "it fills the disk";
  }
  if (is_one_of(subject.program, {"fallocate", "truncate", "mkfile"})) {
    const auto size = subject.value(subject.program == "fallocate" ? 'l' : 's',
                                    subject.program == "fallocate" ? "--length" : "--size");
    if (size && gigabytes(*size) >= 50) return fmt::format("a file of {} may fill the disk", *size);
  }
  if (is_interpreter(subject.program)) {
    const auto text = program_text_of(subject.command, known_input(subject.reading, subject.command));
    const auto forks = [&](std::string_view phrase) { return text && contains(*text, phrase); };
    if (std::ranges::any_of(kForkBombs, forks)) {
      return "it starts processes without end";
    }
  }
  return std::nullopt;
}

Finding kills_others(const Subject& subject) {
  if (asks_only(subject)) return std::nullopt;
  if (subject.is("shutdown reboot halt poweroff telinit kexec"))
    return fmt::format("{} ends this machine", subject.program);
  if (subject.program == "init" && is_listed("0 1 6 s S", subject.operand(0)) && subject.operands.size() == 1)
    return "it ends this machine";
  if (subject.program == "systemctl" && subject.does("reboot poweroff halt suspend hibernate kexec rescue emergency"))
    return "it ends this machine";
  if (subject.program == "loginctl" && starts_with_any(subject.operand(0), {"terminate-", "kill-"}))
    return "it ends sessions of users";
  for (const std::string& path : subject.written()) {
    if (path == "/proc/sysrq-trigger") return "it ends this machine";
  }
  if (subject.program == "kill") {
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
  }
  if (subject.program == "killall" && !subject.flag('l')) return "it ends processes by name, whoever started them";
  if (subject.program == "killall5") return "it ends every process";
  if (subject.program == "pkill" || subject.program == "skill") {
    for (size_t i = 1; i < subject.command.words.size(); ++i) {
      const std::string& word = subject.command.word(i);
      if (starts_with_any(word, {"-u", "-U", "--euid", "--uid", "-t", "-G"}) &&
          !starts_with_any(word, {"-USR", "-TERM", "-Ttin"}))
        return "it ends processes of a user, whatever they are";
    }
    for (const std::string& operand : subject.operands) {
      if (is_one_of(operand, {".", ".*", "", "*", "sh", "bash", "zsh", "sshd", "systemd", "init", "tmux", "screen",
                              "python", "python3", "java", "Xorg", "dockerd", "dbus"})) {
        return fmt::format("{} matches processes that are not yours", operand.empty() ? "an empty pattern" : operand);
      }
    }
  }
  return std::nullopt;
}

Finding changes_system(const Subject& subject) {
  if (asks_only(subject)) return std::nullopt;
  constexpr CallRow kChangers[] = {
      {"yum dnf zypper microdnf", "remove erase autoremove rm upgrade distro-sync downgrade",
       "it removes or replaces packages of the system"},
      {"apk", "del", "it removes packages of the system"},
      {"brew snap flatpak port", "uninstall remove rm autoremove", "it removes packages of the system"},
      {"launchctl", "unload bootout remove disable kill", "it changes services of the system"}};
  if (auto finding = first_call(subject, kChangers)) return finding;
  const std::string verb = subject.operand(0);
  const bool dry = subject.option("--dry-run") || subject.option("--simulate") || subject.flag('s');
  if (subject.is("apt apt-get aptitude") && !dry &&
      subject.does("remove purge autoremove dist-upgrade full-upgrade upgrade autopurge"))
    return "it removes or replaces packages of the system";
  if (subject.program == "dpkg" && (subject.has("-r -P") || subject.option("--remove") || subject.option("--purge")))
    return "it removes packages of the system";
  if (subject.program == "rpm" && (subject.has("-e") || subject.option("--erase")))
    return "it removes packages of the system";
  if (subject.program == "pacman" && subject.command.word(1).starts_with("-R"))
    return "it removes packages of the system";
  const bool own_service = subject.option("--user");
  if (subject.program == "systemctl" && !own_service &&
      subject.does("stop disable mask kill isolate set-default restart daemon-reload"))
    return "it changes services of the system";
  if (subject.is("service rc-service") && is_one_of(subject.operand(1), {"stop", "restart", "reload"}))
    return "it changes services of the system";
  if (subject.program == "sysctl" && (subject.flag('w') || subject.flag('p') || contains(verb, '=')))
    return "it changes the kernel's settings";
  if (subject.is("modprobe rmmod insmod swapoff umount update-grub grub-install hostnamectl update-alternatives")) {
    if (subject.command.words.size() == 1 || subject.has("status") || subject.option("--list") ||
        subject.option("--display"))
      return std::nullopt;
    return fmt::format("{} changes the system", subject.program);
  }
  if (subject.program == "mount" && subject.operands.size() > 1) return "it mounts a file system";
  if (subject.program == "timedatectl" && verb.starts_with("set-")) return "it changes the system's clock";
  if (subject.program == "date" && (subject.flag('s') || subject.option("--set")) && !subject.flag('u'))
    return "it changes the system's clock";
  if (subject.program != "mkdir" && subject.program != "touch") {
    for (const std::string& path : subject.written()) {
      if (is_system_file(path) && !is_within(path, subject.place.project)) return fmt::format("it changes {}", path);
    }
  }
  return std::nullopt;
}

Finding changes_network(const Subject& subject) {
  if (asks_only(subject)) return std::nullopt;
  constexpr CallRow kChangers[] = {
      {"iptables-restore ip6tables-restore", "", "it replaces the firewall's rules"},
      {"ifdown ifup wg-quick dhclient", "", "it changes an interface"},
      {"route", "add del delete flush change", "it changes routes"},
      {"tailscale resolvectl rfkill", "down up logout set dns revert block", "it changes the network's configuration"}};
  if (auto finding = first_call(subject, kChangers)) return finding;
  const std::string first = subject.operand(0), second = subject.operand(1);
  if (subject.is("iptables ip6tables ebtables arptables")) {
    const bool lists = subject.flag('L') || subject.flag('S') || subject.option("--list") ||
                       subject.option("--list-rules") || subject.flag('C') || subject.flag('V');
    return lists ? Finding() : "it changes the firewall";
  }
  if (subject.program == "nft" && first != "list" && !first.empty()) return "it changes the firewall";
  if (subject.program == "ufw" && first != "status" && first != "show" && first != "version")
    return "it changes the firewall";
  if (subject.program == "pfctl" && !subject.flag('s')) return "it changes the firewall";
  if (subject.program == "firewall-cmd" && !subject.option("--list-all") && !subject.option("--state") &&
      !subject.has("--get-default-zone") && subject.command.words.size() > 1)
    return "it changes the firewall";
  if (subject.program == "ip") {
    for (const std::string& operand : subject.operands) {
      if (is_listed("set add del delete flush replace change append", operand) && !subject.has("show"))
        return "it changes interfaces or routes";
    }
  }
  if (subject.program == "ifconfig" && subject.operands.size() > 1) return "it changes an interface";
  if (subject.program == "nmcli" && subject.has("off down delete modify disconnect"))
    return "it changes the network's configuration";
  if (subject.program == "tc" && is_one_of(second, {"add", "del", "replace", "change"}))
    return "it changes how traffic flows";
  if (subject.program == "networksetup" &&
      std::ranges::any_of(subject.command.words, [](const ShellWord& word) { return word.text.starts_with("-set"); }))
    return "it changes the network's configuration";
  return std::nullopt;
}

}  // namespace ralph
