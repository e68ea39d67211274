// What a session has edited, beside its note: auto mode acts only in sessions that did.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "os/environment.h"

namespace ralph {

// The files that a tool call has written, as the host names them; empty: it is no edit.
std::vector<std::string> edited_files(std::string_view tool, const json::value& input);

struct SessionEdits {
  std::string project;
  std::vector<std::string> files;  // relative to it, each once
};

// Best effort: a hook goes on without.
void note_edits(const Environment& environment, const std::string& session, const std::string& project,
                const std::vector<std::string>& files);

// Of the project that was edited last.
std::optional<SessionEdits> edits_of(const Environment& environment, const std::string& session);

// When the session ends: what auto mode has noted of it.
void forget_edits(const Environment& environment, const std::string& session);

// The path of `file` in the project; empty: it is outside.
std::string path_in(const std::string& project, const std::string& cwd, const std::string& file);

}  // namespace ralph
