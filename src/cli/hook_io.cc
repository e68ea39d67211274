#include "cli/hook_io.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "hooks/log.h"
#include "journal/redactor.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/process_tree.h"
#include "session/loop_store.h"
#include "settings/remembered.h"

namespace ralph::cli {
namespace {

constexpr size_t kLargest = 64 * 1024 * 1024;  // a tool's input may contain a whole file
constexpr Milliseconds kPatience{4000};        // hosts give a hook ten seconds
constexpr Milliseconds kMoment{100};           // after this much silence, complete JSON is the whole input

struct HookInput {
  std::string text;
  std::string fault;  // why it may be incomplete
};

// A host may forget to close the pipe, so complete JSON needs no end of file.
HookInput read_input() {
  HookInput input;
  const SystemClock clock;
  const MonotonicTime until = clock.monotonic() + kPatience;
  size_t tried = 0;  // its length when it last failed to parse
  char buffer[64 * 1024];
  for (;;) {
    const Milliseconds left = std::chrono::duration_cast<Milliseconds>(until - clock.monotonic());
    if (left.count() <= 0) {
      input.fault = fmt::format("the hook's input did not end within {} s", kPatience.count() / 1000);
      return input;
    }
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min(left, kMoment).count()));
    if (ready == 0) {
      if (input.text.size() != tried && trim(input.text).ends_with('}') && parse_json(input.text, "")) return input;
      tried = input.text.size();
      continue;
    }
    if (ready < 0 && errno != EINTR) {
      input.fault = fmt::format("cannot wait for the hook's input: {}", errno_text(errno));
      return input;
    }
    const ssize_t n = ready < 0 ? -1 : ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return input;
    input.text.append(buffer, static_cast<size_t>(n));
    if (input.text.size() > kLargest) {
      input = {{}, "the hook's input is larger than 64 MB, the most that is read; it was ignored"};
      return input;
    }
  }
}

}  // namespace

HookCall::HookCall(std::string_view name, const Arguments& arguments)
    : hook(name),
      protocol(protocol_from(to_lower(arguments.value("protocol").value_or(""))).value_or(kHosts[0].protocol)),
      host(find_host(to_lower(arguments.value("protocol").value_or(std::string(kHosts[0].name))))) {}

const HookPayload& HookCall::read() {
  // A file size limit or a closed pipe is an error to report, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  const HookInput input = read_input();
  std::string fault;
  payload = payload_from(input.text, &fault);
  if (!fault.empty() && !input.fault.empty()) fault = input.fault;
  if (payload.cwd.empty()) payload.cwd = current_directory().value_or("");
  if (!payload.cwd.starts_with('/')) payload.cwd.clear();  // the folder was deleted
  if (!fault.empty()) complain(fault);
  std::string passed_over;
  if (!payload.cwd.empty()) project = project_for_loop(payload.cwd, &passed_over);
  if (!passed_over.empty() && is_news(environment, "another user's " + payload.cwd, passed_over)) complain(passed_over);
  return payload;
}

Status HookCall::set_deadline(const Arguments& arguments) {
  const auto given = arguments.value("deadline");
  if (!given) return {};
  const auto seconds = parse_count(*given);
  if (!seconds || *seconds < 1 || *seconds > 86'400)
    return fail(ErrorKind::kUsage, "--deadline: \"{}\" is not a whole number of seconds from 1 to 86400", *given);
  deadline = Milliseconds(*seconds * 1000);
  return {};
}

Milliseconds HookCall::time_left() const {
  constexpr Milliseconds kMargin{30'000};
  const WallTime began = start_of_this_process();
  const Milliseconds spent = began == WallTime::max() ? Milliseconds(0) : SystemClock().wall() - began;
  return std::max(deadline - std::min(kMargin, deadline / 5) - spent, Milliseconds(0));
}

void HookCall::complain(std::string_view what) const {
  const std::string shown = Redactor(environment.as_lines()).redact(what);
  static_cast<void>(write_all(STDERR_FILENO, fmt::format("ralph hooks {}: {}\n", hook, shown), "standard error"));
  if (!payload.cwd.empty()) log_hook(payload.cwd, {hook, payload.session, "error", what});
}

void HookCall::complain(const std::vector<std::string>& all) const {
  for (const std::string& one : all) complain(one);
}

int HookCall::add_context(std::string_view event, std::string_view text) const {
  return send(ralph::add_context(protocol, payload.event.empty() ? event : payload.event, text));
}

int send(const HookReply& reply) {
  if (!reply.out.empty()) static_cast<void>(write_all(STDOUT_FILENO, reply.out, "standard output"));
  if (!reply.err.empty()) static_cast<void>(write_all(STDERR_FILENO, reply.err, "standard error"));
  return reply.exit_code;
}

}  // namespace ralph::cli
