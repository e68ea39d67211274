// ralph sandbox enter: the first program inside a sandbox. It starts the bridge to the proxy, sets limits, and becomes
// the requested program.
#include <array>
#include <cerrno>
#include <charconv>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/registry.h"
#include "os/environment.h"
#include "os/files.h"
#include "os/launch.h"
#include "os/terminal_relay.h"
#include "sandbox/bridge.h"
#include "sandbox/places.h"

namespace ralph::cli {
namespace {

constexpr std::array kOptions = {
    Option{"processes", 0, "N", "At most N processes."},
    Option{"bridge", 0, "SOCKET", "Forward connections from 127.0.0.1:3128 to this socket."},
    Option{"data", 0, "BYTES", "At most this much memory for each process."},
    Option{"terminal", 0, "", "Standard input is a terminal for this program alone."},
};
constexpr std::array kPositionals = {Positional{"COMMAND", "The program and its arguments.", true, true}};

Status limit(const Arguments& arguments, std::string_view option, int resource) {
  const auto text = arguments.value(option);
  if (!text) return {};
  rlim_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size())
    return fail(ErrorKind::kUsage, "--{}: {} is not a number", option, *text);
  const struct rlimit both = {value, value};
  if (::setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0)
    return fail(ErrorKind::kIo, "--{}: {}", option, errno_text(errno));
  return {};
}

Result<int> enter(const Arguments& arguments) {
  if (const auto socket = arguments.value("bridge")) TRY(start_bridge(kProxyPort, std::string(*socket)));
  if (arguments.has("terminal")) TRY(take_terminal());
  TRY(limit(arguments, "data", RLIMIT_DATA));
  const std::vector<std::string> words(arguments.positionals().begin(), arguments.positionals().end());
  TRY_VALUE(const std::string here, current_directory());
  TRY_VALUE(const std::string program, resolve_program(words[0], Environment::of_this_process(), here));
  TRY(limit(arguments, "processes", RLIMIT_NPROC));
  // bwrap was started with signals blocked, so that a request to end reaches the program and not bwrap.
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(program.c_str(), pointers_to(words).data());
  return fail(ErrorKind::kNotFound, "cannot start {} in the sandbox: {}", program, errno_text(errno));
}

}  // namespace

const Command kSandboxEnter = {
    "sandbox enter",
    "Inside a sandbox: sets limits and becomes a program.",
    "For ralph's own use: the first program inside a sandbox.",
    "ralph sandbox enter --processes=100 -- make test",
    kOptions,
    kPositionals,
    enter,
    true,
};

}  // namespace ralph::cli
