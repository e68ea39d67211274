// What is noted of a session outside its project: which loop it has, and which process it lives in. Only what is noted
// there is a loop; nothing that came with a repository is. Specified in docs/formats/loop.md.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

struct SessionNote {
  std::string project, run;  // version 0.1 wrote only the project
  int host = 0;              // the process of the session's host; 0: unknown
  unsigned long long host_start = 0;

  // Some hosts end, or are killed, without a word to any hook.
  bool host_is_gone() const;
};

// Empty: there is no place for notes. The unbound loop of a project has no session.
std::string note_path(const Environment& environment, const std::string& project, const std::string& session);

// Beside the note of a session: its loop was cancelled, and the session has not heard of it.
std::string cancellation_path(const std::string& note);

std::optional<SessionNote> read_note(const std::string& path);
Status write_note(const std::string& path, const SessionNote& note);

// Notes the process that called this hook as the session's host.
Status note_host(const std::string& path);

}  // namespace ralph
