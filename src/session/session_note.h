// The note of a session, outside its project: its loop, and the process that it lives in. Only a loop with a note
// counts; nothing that came with a repository does. Specified in docs/formats/loop.md.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "os/environment.h"

namespace ralph {

// A session id as a file name: verbatim if harmless, else its hash. Never empty, never a path, and unique for the ids
// that hosts use.
std::string file_name_of_session(const std::string& session);

struct SessionNote {
  std::string project, run;  // version 0.1 wrote only the project
  int host = 0;              // the process of the session's host; 0: unknown
  unsigned long long host_start = 0;

  // Some hosts end, or are killed, without calling any hook.
  bool host_is_gone() const;
};

// Empty if there is no place for notes. An empty `session` means the project's unbound loop.
std::string note_path(const Environment& environment, const std::string& project, const std::string& session);

// A file next to a session's note: the loop was cancelled, and the session has not been informed.
std::string cancellation_path(const std::string& note);

std::optional<SessionNote> read_note(const std::string& path);
Status write_note(const std::string& path, const SessionNote& note);

// Records the process that called this hook as the session's host.
Status note_host(const std::string& path);

}  // namespace ralph
