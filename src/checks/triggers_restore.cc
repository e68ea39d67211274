// The half of Triggers that restores files; checks/triggers.cc finds what has changed.
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/text.h"
#include "checks/file_facts.h"
#include "checks/trigger_place.h"
#include "checks/triggers.h"
#include "git/repository_mark.h"
#include "os/files.h"

namespace ralph {

Result<std::string> Triggers::content_before(const std::string& path) const {
  const auto known = files_.find(path);
  if (known == files_.end()) return std::string();
  if (known->second.content) return *known->second.content;
  const std::string copy = join_path(store_, known->second.sha256);
  auto content = is_real_file(copy) ? read_file(copy) : Result<std::string>("");
  if (!content || sha256_hex(*content) != known->second.sha256)
    return fail(ErrorKind::kIo, "there is no copy of the original {}", path);
  return content;
}

Status Triggers::write_before(const std::string& path) {
  const auto known = files_.find(path);
  if (known == files_.end()) return {};
  TRY_VALUE(const std::string content, content_before(path));
  TRY(make_directories(parent_path(path)));
  if (known->second.link) {
    if (::symlink(content.c_str(), path.c_str()) == 0) return {};
    return fail(ErrorKind::kIo, "cannot create {}: {}", path, std::strerror(errno));
  }
  const bool durable = known->second.content.has_value();  // a program has many files, and can be reinstalled
  TRY(durable ? write_file_atomically(path, content, known->second.mode)
              : replace_file(path, content, known->second.mode));
  if (::chmod(path.c_str(), known->second.mode) == 0) return {};
  return fail(ErrorKind::kIo, "cannot set the mode of {}: {}", path, std::strerror(errno));
}

// Restores only the compared part of the file.
Status Triggers::mend(const Change& change, const std::string& kept) {
  const std::string& path = change.place.path;
  TRY_VALUE(const std::string before, content_before(path));
  TRY_VALUE(const std::string now, read_file(path));
  const std::string mended = with_part_of(change.place, before, now);
  TRY(make_directories(parent_path(kept)));
  std::string free = kept;
  for (int n = 1; path_exists(free); ++n) free = fmt::format("{}.{}", kept, n);
  TRY(replace_file(free, now, 0600));
  if (!files_.contains(path) && is_one_of(trim(mended), {"", "{}"})) {
    if (::unlink(path.c_str()) == 0) return {};
    return fail(ErrorKind::kIo, "cannot remove {}: {}", path, std::strerror(errno));
  }
  return write_file_atomically(path, mended);
}

// All or nothing: a mixture of two versions would not run.
Status Triggers::put_back_program(const Change& change, const std::string& kept) {
  for (const std::string& path : change.others) {
    if (files_.contains(path) && !content_before(path))
      return fail(ErrorKind::kIo,
                  "it is too large to be copied, so none of its {} changed files was restored; reinstall the original "
                  "before you run it",
                  change.others.size());
  }
  const std::string root = roots_.empty() ? "" : roots_.front();
  for (const std::string& path : change.others) {
    const bool inside = !root.empty() && path.starts_with(root + "/");
    TRY(move_away(path, join_path(kept, path.substr(inside ? root.size() + 1 : 1))));
    if (files_.contains(path)) {
      TRY(write_before(path));
    } else if (const auto folder = folders_.find(path); folder != folders_.end() && folder->second == Folder::kReal) {
      TRY(make_directories(path));
    }
  }
  return {};
}

Status Triggers::put_back(const Change& change, const std::string& kept) {
  const std::string& path = change.place.path;
  if (change.what == kHeadless)
    return fail(ErrorKind::kIo, "check out a branch that has commits; the run began at commit {}",
                change.place.keys.back().substr(0, 12));
  if (change.place.kind == TriggerKind::kRepository)
    return fail(ErrorKind::kIo,
                "ralph has no copy of its commits and branches; restore it from a backup or from a clone");
  if (change.place.kind == TriggerKind::kProgram) return put_back_program(change, kept);
  LstatCache lstats(roots_);
  for (const std::string& folder : replaced_folders(lstats)) {
    if (path.starts_with(folder + "/")) return fail(ErrorKind::kIo, "{} is no longer a folder", folder);
  }
  if (change.folder) {
    if (base_name(path) == ".git" && folders_.at(path) == Folder::kReal)
      return fail(ErrorKind::kIo, "the repository was replaced by another one");
    TRY(move_away(path, kept));
    return folders_.at(path) == Folder::kReal ? make_directories(path) : Status{};
  }
  const auto known = files_.find(path);
  const bool was_link = known != files_.end() && known->second.link;
  if (change.place.kind == TriggerKind::kPlainFile) return move_away(path, kept);
  if (!is_whole(change.place.kind) && !was_link && is_real_file(path)) return mend(change, kept);
  if (known != files_.end()) TRY(content_before(path));  // before anything is moved
  TRY(move_away(path, kept));
  return write_before(path);
}

}  // namespace ralph
