#include "session/session_note.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "os/files.h"
#include "os/process_tree.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

bool is_harmless(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

std::string file_name_of_session(const std::string& session) {
  const bool plain =
      !session.empty() && session.size() <= 80 && std::all_of(session.begin(), session.end(), is_harmless);
  return plain && !session.starts_with("hash-") ? session : fmt::format("hash-{:016x}", stable_hash(session));
}

bool SessionNote::host_is_gone() const {
  return host > 0 && start_time_of(host) != host_start;
}

std::string note_path(const Environment& environment, const std::string& project, const std::string& session) {
  const std::string folder = state_folder(environment);
  if (folder.empty()) return {};
  return join_path(folder, "sessions/" + (session.empty() ? fmt::format("unbound.{:016x}", stable_hash(project))
                                                          : file_name_of_session(session)));
}

std::string cancellation_path(const std::string& note) {
  return note + ".cancelled";
}

std::optional<SessionNote> read_note(const std::string& path) {
  if (path.empty() || !is_real_file(path)) return std::nullopt;
  const std::vector<std::string> lines = split(read_file(path).value_or(""), '\n');
  SessionNote note{lines[0], lines.size() > 1 ? lines[1] : ""};
  if (lines.size() > 2) {
    const size_t blank = lines[2].find(' ');
    const auto pid = parse_count(lines[2].substr(0, blank));
    const auto start = blank == std::string::npos ? std::nullopt : parse_count(lines[2].substr(blank + 1));
    if (pid && start) note.host = static_cast<int>(*pid), note.host_start = static_cast<unsigned long long>(*start);
  }
  return note;
}

Status write_note(const std::string& path, const SessionNote& note) {
  const std::string host = note.host > 0 ? fmt::format("{} {}\n", note.host, note.host_start) : "";
  return replace_file(path, fmt::format("{}\n{}\n{}", note.project, note.run, host), 0600);
}

Status note_host(const std::string& path) {
  auto note = read_note(path);
  const auto host = note && !note->run.empty() ? caller_of_this_process() : std::nullopt;
  if (!host || (host->pid == note->host && host->start_time == note->host_start)) return {};
  note->host = host->pid;
  note->host_start = host->start_time;
  return write_note(path, *note);
}

}  // namespace ralph
