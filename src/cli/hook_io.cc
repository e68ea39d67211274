#include "cli/hook_io.h"

#include <cerrno>
#include <unistd.h>

#include "os/files.h"
#include "session/hook_log.h"

namespace ralph::cli {
namespace {

// Of the payload that was read.
std::string& cwd_of_hook() {
  static std::string cwd;
  return cwd;
}
std::string& session_of_hook() {
  static std::string session;
  return session;
}

}  // namespace

HookPayload read_payload(std::string_view hook) {
  constexpr size_t kLargest = 64 * 1024 * 1024;  // a tool's input may hold a whole file
  std::string text;
  char buffer[64 * 1024];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || text.size() > kLargest) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  std::string fault;
  HookPayload payload = payload_from(text, &fault);
  if (payload.cwd.empty()) payload.cwd = current_directory().value_or("/");
  cwd_of_hook() = payload.cwd;
  session_of_hook() = payload.session;
  if (!fault.empty()) complain(hook, fault);
  return payload;
}

Protocol protocol_of(const Arguments& arguments) {
  return protocol_from(arguments.value("protocol").value_or("claude")).value_or(Protocol::kClaude);
}

int send(const HookReply& reply) {
  if (!reply.out.empty()) static_cast<void>(write_all(STDOUT_FILENO, reply.out, "standard output"));
  if (!reply.err.empty()) static_cast<void>(write_all(STDERR_FILENO, reply.err, "standard error"));
  return reply.exit_code;
}

void complain(std::string_view hook, std::string_view what) {
  static_cast<void>(write_all(STDERR_FILENO, fmt::format("ralph hooks {}: {}\n", hook, what), "standard error"));
  if (!cwd_of_hook().empty()) log_hook(cwd_of_hook(), {hook, session_of_hook(), "error", what});
}

}  // namespace ralph::cli
