// Names that a session goes by.
#pragma once

#include <string>

namespace ralph {

// A session id as a file name: as it is if it is harmless, else by its hash. Never empty, never a path, and no two ids
// that hosts give have the same.
std::string file_name_of_session(const std::string& session);

}  // namespace ralph
