// The files of the context monitor.
#include <algorithm>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "hooks/context_monitor.h"
#include "json/value.h"
#include "os/files.h"
#include "os/lock.h"
#include "plan/project_check.h"
#include "session/session_note.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr time_t kForgottenAfter = 7 * 24 * 60 * 60;
constexpr std::string_view kLock = "lock";

}  // namespace

std::string ContextMonitor::after_tool(const HookPayload& payload) {
  if (payload.session.empty() || !payload.agent_id.empty()) return {};
  const std::uint64_t size = transcript_size(payload.transcript_path);
  if (size == 0) return {};
  const std::string path = path_of(payload.session);
  if (path.empty()) return {};
  const ContextMemory memory = load(path);
  const std::uint64_t begin = memory.begin <= size ? memory.begin : 0;  // otherwise the transcript was rewritten
  const auto reading = reading_from(last_usage(payload.transcript_path, begin), size - begin, configured_window());
  if (!reading) return {};
  if (watch_context(memory, *reading, false).memory == memory) return {};

  // Rare: an alert must be raised or rearmed. Another hook of the session may be doing the same right now.
  if (auto made = make_directories(folder()); !made) {
    complaints_.push_back(made.error().message);
    return {};
  }
  const auto lock = Lock::acquire(join_path(folder(), kLock));
  if (!lock) {
    if (lock.error().kind != ErrorKind::kBusy) complaints_.push_back(lock.error().message);
    return {};  // the next hook raises the alert
  }
  const auto plan = active_plan(environment_, payload.cwd);
  const ContextStep step = watch_context(load(path), *reading, plan && *plan);
  return save(path, step.memory) ? step.alert : "";  // an alert that can't be recorded would repeat after every tool
}

void ContextMonitor::at_session_start(const HookPayload& payload) {
  const std::string path = path_of(payload.session);
  if (payload.session.empty() || path.empty()) return;
  if (!is_directory(folder()) && payload.source != "compact") return;  // no memory to update
  prune();
  const auto memory = memory_at_start(load(path), payload.source, transcript_size(payload.transcript_path));
  if (memory && *memory == load(path)) return;
  if (!memory) {
    ::unlink(path.c_str());
    return;
  }
  if (auto made = make_directories(folder()); !made) {
    complaints_.push_back(made.error().message);
    return;
  }
  save(path, *memory);
}

std::string ContextMonitor::folder() const {
  const std::string state = state_folder(environment_);
  return state.empty() ? "" : join_path(state, "context");
}

std::string ContextMonitor::path_of(const std::string& session) const {
  const std::string in = folder();
  return in.empty() ? "" : join_path(in, file_name_of_session(session) + ".json");
}

// An unreadable file counts as empty: at worst, an alert is repeated.
ContextMemory ContextMonitor::load(const std::string& path) const {
  ContextMemory memory;
  if (!is_regular_file(path)) return memory;
  const auto text = read_file(path);
  const auto value = text ? parse_json(*text, path) : fail(ErrorKind::kIo, "");
  if (!value) return memory;
  memory.spent = static_cast<int>(std::clamp<std::int64_t>(find_integer(*value, "spent").value_or(0), 0, 100));
  memory.begin = static_cast<std::uint64_t>(std::max<std::int64_t>(find_integer(*value, "begin").value_or(0), 0));
  return memory;
}

bool ContextMonitor::save(const std::string& path, const ContextMemory& memory) {
  const std::string text = fmt::format("{{\"v\":1,\"spent\":{},\"begin\":{}}}\n", memory.spent, memory.begin);
  const auto written = write_file_atomically(path, text, 0600);
  if (!written) complaints_.push_back(written.error().message);
  return written.has_value();
}

std::optional<std::int64_t> ContextMonitor::configured_window() {
  const std::string text = environment_.get("CLAUDE_CONTEXT_WINDOW").value_or("");
  if (trim(text).empty()) return std::nullopt;
  const auto tokens = parse_count(trim(text));
  if (tokens && *tokens >= 1000) return tokens;
  complaints_.push_back(fmt::format(
      "CLAUDE_CONTEXT_WINDOW is \"{}\", which is not a number of tokens of at least 1000; it is ignored", text));
  return std::nullopt;
}

void ContextMonitor::prune() const {
  const time_t now = ::time(nullptr);
  for (const std::string& name : names_in(folder())) {
    const std::string path = join_path(folder(), name);
    struct stat info{};
    if (name.starts_with('.') || name == kLock) continue;
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (now - info.st_mtime > kForgottenAfter) ::unlink(path.c_str());
  }
}

}  // namespace ralph
