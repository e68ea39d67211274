// The files that a session has edited, recorded next to its note. Auto mode acts only in sessions with edits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "os/environment.h"

namespace ralph {

// The files that a tool call has written, as named by the host; empty if it is not an edit.
std::vector<std::string> edited_files(std::string_view tool, const json::value& input);

struct SessionEdits {
  std::string project;
  std::vector<std::string> files;  // relative to it, each once
};

// Best effort: errors are ignored.
void note_edits(const Environment& environment, const std::string& session, const std::string& project,
                const std::vector<std::string>& files);

// The edits in the project that was edited last.
std::optional<SessionEdits> edits_of(const Environment& environment, const std::string& session);

// Call when the session ends: removes everything that auto mode has recorded about it.
void forget_edits(const Environment& environment, const std::string& session);

// The path of `file` relative to the project; empty if it is outside.
std::string path_in(const std::string& project, const std::string& cwd, const std::string& file);

}  // namespace ralph
