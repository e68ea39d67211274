#include "settings/remembered.h"

#include <sys/stat.h>

#include "base/text.h"
#include "git/tracked.h"
#include "os/files.h"
#include "settings/ralph_folder.h"

namespace ralph {

std::string identity_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return "-";
  return fmt::format("{}:{}:{}:{}.{:09}", info.st_dev, info.st_ino, info.st_size, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

bool came_with_repository(const Environment& environment, const std::string& project, const std::string& file) {
  const std::string index = index_file(project);
  const std::string path = join_path(project, file);
  if (index.empty() || !path_exists(path)) return false;
  const std::string state = state_folder(environment);
  const std::string note = join_path(state, "found/" + state_name(base_name(file), path));
  const std::string question = fmt::format("{} {}", identity_of(path), identity_of(index));
  if (!state.empty() && is_real_file(note)) {
    const std::vector<std::string> lines = split(read_file(note).value_or(""), '\n');
    if (lines.size() > 1 && lines[0] == question) return lines[1] == "tracked";
  }
  const bool tracked = is_tracked(project, file, environment);
  // Failing to save the note only costs time.
  if (!state.empty() && make_directories(parent_path(note)))
    static_cast<void>(replace_file(note, fmt::format("{}\n{}\n", question, tracked ? "tracked" : "untracked"), 0600));
  return tracked;
}

bool is_news(const Environment& environment, const std::string& topic, const std::string& text) {
  const std::string state = state_folder(environment);
  if (state.empty()) return true;
  const std::string note = join_path(state, "found/" + state_name("said", topic));
  if (is_real_file(note) && read_file(note).value_or("") == text) return false;
  if (make_directories(parent_path(note))) static_cast<void>(replace_file(note, text, 0600));
  return true;
}

}  // namespace ralph
