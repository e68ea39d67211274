// The files of a plan. Agents can write there too, so symlinks and special files are never followed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "os/files.h"

namespace ralph {

inline constexpr std::string_view kPrdFile = "prd.md";
inline constexpr std::string_view kTasksFile = "tasks.json";
inline constexpr std::string_view kProgressFile = "progress.txt";
inline constexpr std::string_view kPromptFile = "prompt.md";

struct PlanFiles {
  std::string project;    // absolute
  std::string ralph_dir;  // absolute

  std::string tasks() const { return join_path(ralph_dir, kTasksFile); }
  std::string prd() const { return join_path(ralph_dir, kPrdFile); }
  std::string prompt() const { return join_path(ralph_dir, kPromptFile); }
  std::string progress() const { return join_path(ralph_dir, kProgressFile); }
  std::string shown(const std::string& path) const;  // relative to the project if it is inside
};

// The content of a regular file. nullopt if it is missing, a symlink or not a regular file, unreadable or larger than
// 64 MB.
std::optional<std::string> read_plain_file(const std::string& path);

// The same, but failure is an error that names the file and the problem, and ends with `advice`.
Result<std::string> require_plain_file(const std::string& path, std::string_view advice);

// Fails if the plan's folder is missing (the error says how to create it) or a symlink.
Status check_plan_folder(const PlanFiles& files);

// What replaced the plan's folder: "a symbolic link" or "a file". Empty if it is a folder or missing.
std::string_view in_place_of_plan_folder(const PlanFiles& files);

// Restores the plan's folder if an agent removed it, made it inaccessible or replaced it.
Status restore_plan_folder(const PlanFiles& files);

// The path, or the first of path-2, path-3… that does not exist.
std::string unused_path(const std::string& path);

}  // namespace ralph
