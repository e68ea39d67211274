// The files of a plan, read and written where agents can write too: symlinks and other surprises are never followed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ralph {

struct PlanFiles {
  std::string project;    // absolute
  std::string ralph_dir;  // absolute

  std::string tasks() const;
  std::string prd() const;
  std::string prompt() const;
  std::string progress() const;
  std::string shown(const std::string& path) const;  // relative to the project where it is inside
};

// The content of a plain file of a sensible size. Nothing if it is missing, a symlink or no plain file, unreadable or
// larger than 64 MB.
std::optional<std::string> read_plain_file(const std::string& path);

// The same for those who can't go on without: an error that names the file and what is wrong with it.
Result<std::string> require_plain_file(const std::string& path, std::string_view advice);

// Fails if the plan's folder is missing (and says how to make it) or a symlink.
Status check_plan_folder(const PlanFiles& files);

// What stands where the plan's folder should: "a symbolic link" or "a file"; empty if it is a folder, or nothing.
std::string_view in_place_of_plan_folder(const PlanFiles& files);

// Puts the plan's folder back where an agent removed it, closed it or set something else in its place.
Status restore_plan_folder(const PlanFiles& files);

// The path, or the first of path-2, path-3… that does not exist.
std::string unused_path(const std::string& path);

}  // namespace ralph
