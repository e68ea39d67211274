// Caches facts about files in the state folder, because hooks have little time. A fact is determined again only when
// the file changes.
#pragma once

#include <string>

#include "os/environment.h"

namespace ralph {

// Device, inode, size and change time of the file itself (links are not followed); "-" if it does not exist.
std::string identity_of(const std::string& path);

// Whether git tracks `file` below `project`. Asks git only if the file or the index has changed.
bool came_with_repository(const Environment& environment, const std::string& project, const std::string& file);

// Whether `text` differs from the last one about `topic`. A hook that runs before every tool call uses it to say things
// only once. Without a state folder, everything is news.
bool is_news(const Environment& environment, const std::string& topic, const std::string& text);

}  // namespace ralph
