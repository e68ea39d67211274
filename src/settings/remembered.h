// What was found out about a file is remembered in the state folder, and found out again only when the file is another
// one: hooks have little time.
#pragma once

#include <string>

#include "os/environment.h"

namespace ralph {

// Device, inode, size and time of the last change, of the file itself; "-" if it is not there.
std::string identity_of(const std::string& path);

// Whether git tracks `file` below `project`. Asks git once for each state of the file and of the index.
bool came_with_repository(const Environment& environment, const std::string& project, const std::string& file);

// Whether this is another text about `topic` than the last time: a hook that runs before every tool call says a thing
// once. Without a state folder everything is news.
bool is_news(const Environment& environment, const std::string& topic, const std::string& text);

}  // namespace ralph
