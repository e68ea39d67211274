// File names for sessions.
#pragma once

#include <string>

namespace ralph {

// A session id as a file name: verbatim if harmless, else its hash. Never empty, never a path, and unique for the ids
// that hosts use.
std::string file_name_of_session(const std::string& session);

}  // namespace ralph
