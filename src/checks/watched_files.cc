#include "checks/watched_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/text.h"
#include "checks/file_facts.h"
#include "checks/named_files.h"
#include "checks/path_pattern.h"
#include "json/fields.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostFiles = 100'000;
constexpr std::string_view kManifest = "manifest.json";

// The first parent of `path` within `project` that is no longer a real folder; empty if all are.
std::string replaced_folder(const std::string& project, const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = join_path(project, path.substr(0, slash));
    if (!is_real_folder(folder)) return folder;
  }
  return {};
}

}  // namespace

std::string WatchedFiles::where(const File& file) const {
  return join_path(project_, file.path);
}

Status WatchedFiles::add(const std::string& path, bool is_protected, const std::string& named_by, const Rules& rules) {
  if (const auto known = known_.find(path); known != known_.end()) {
    if (files_[known->second].named_by.empty()) files_[known->second].named_by = named_by;
    return {};
  }
  struct stat info{};
  const std::string full = join_path(project_, path);
  if (!replaced_folder(project_, path).empty() || ::lstat(full.c_str(), &info) != 0) return {};
  const auto content = content_of_file(full, info);
  if (!content && is_protected && S_ISREG(info.st_mode))
    return fail(ErrorKind::kInput, "{} is protected (protect.paths) but can't be read; make it readable", full);
  if (!content) return {};
  File file;
  file.path = path;
  file.sha256 = sha256_hex(*content);
  file.mode = info.st_mode & 07777;
  file.link = S_ISLNK(info.st_mode);
  file.is_protected = is_protected;
  file.named_by = named_by;
  file.stamp = stamp_of_file(info);
  if (is_protected) {
    bytes_ += content->size();
    if (bytes_ > rules.most_bytes || files_.size() >= kMostFiles)
      return fail(ErrorKind::kInput,
                  "protect.paths match more than {} or {} files, too much to keep copies of; name fewer files",
                  human_bytes(rules.most_bytes), kMostFiles);
    const std::string copy = join_path(store_, file.sha256);
    if (rules.copies && !path_exists(copy)) TRY(replace_file(copy, *content, 0600));
  }
  known_.emplace(path, files_.size());
  files_.push_back(std::move(file));
  return {};
}

void WatchedFiles::add_absent(const std::string& path, const std::string& named_by) {
  if (known_.contains(path) || path_exists(join_path(project_, path))) return;
  File file;
  file.path = path;
  file.absent = true;
  file.named_by = named_by;
  known_.emplace(path, files_.size());
  files_.push_back(std::move(file));
}

Status WatchedFiles::add_below(const std::string& folder, const Rules& rules) {
  for (const std::string& name : names_in(join_path(project_, folder))) {
    if (name == "." || name == "..") continue;
    const std::string path = folder.empty() ? name : join_path(folder, name);
    if (path == ".git" || path == ".ralph/runs") continue;
    if (is_real_folder(join_path(project_, path))) {
      TRY(add_below(path, rules));
    } else if (std::any_of(rules.patterns.begin(), rules.patterns.end(),
                           [&](const std::string& pattern) { return matches_path(pattern, path); })) {
      TRY(add(path, true, "", rules));
    }
  }
  return {};
}

Result<WatchedFiles> WatchedFiles::take(const std::string& project, const std::string& store, const Rules& rules) {
  WatchedFiles watched(project, store);
  TRY(make_directories(store));
  for (const std::string& pattern : rules.patterns) {
    const std::string part(literal_part(pattern));
    if (is_one_of(std::string(".."), split(pattern, '/')))
      return fail(ErrorKind::kInput, "protect.paths: \"{}\" leaves the project; name paths in it, without ..", pattern);
    const std::string full = join_path(project, part);
    if (part.empty() || is_real_folder(full)) {
      TRY(watched.add_below(part, rules));
    } else if (matches_path(pattern, part)) {
      TRY(watched.add(part, true, "", rules));
    }
  }
  for (const std::string& command : rules.commands) {
    const auto is_file = [&](const std::string& path) {
      return replaced_folder(project, path).empty() && is_real_file(join_path(project, path));
    };
    for (const std::string& path : files_named_by(command, is_file)) TRY(watched.add(path, false, command, rules));
    for (const std::string& path : files_read_by_programs_of(command)) watched.add_absent(path, command);
  }
  std::sort(watched.files_.begin(), watched.files_.end(), [](const File& a, const File& b) { return a.path < b.path; });
  TRY(watched.write_manifest());
  return watched;
}

Status WatchedFiles::write_manifest() {
  json::array list;
  for (const File& file : files_) list.push_back(json_from(file));
  const std::string text = to_compact_json(list) + "\n";
  manifest_ = sha256_hex(text);
  return replace_file(join_path(store_, kManifest), text, 0600);
}

Result<WatchedFiles> WatchedFiles::load(const std::string& project, const std::string& store,
                                        const std::string& manifest) {
  WatchedFiles watched(project, store);
  const std::string path = join_path(store, kManifest);
  const auto text = is_real_file(path) ? read_file(path) : Result<std::string>("");
  if (!text || sha256_hex(*text) != manifest)
    return fail(ErrorKind::kInput,
                "the list of the files that this run protects ({}) is missing or was changed, so they can't be "
                "compared with their earlier state; check them, and start a new run",
                path);
  TRY_VALUE(const json::value list, parse_json(*text, path));
  for (const json::value& entry : list.as_array()) watched.files_.push_back(from_json<File>(entry));
  watched.manifest_ = manifest;
  return watched;
}

std::vector<WatchedFiles::Change> WatchedFiles::changes() {
  std::vector<Change> found;
  std::string last_folder, last_replaced;
  for (size_t i = 0; i < files_.size(); ++i) {
    File& file = files_[i];
    if (const std::string folder = parent_path(file.path); i == 0 || folder != last_folder) {
      last_folder = folder;
      last_replaced = replaced_folder(project_, file.path);
    }
    struct stat info{};
    const std::string full = where(file);
    if (file.absent) {
      if (last_replaced.empty() && ::lstat(full.c_str(), &info) == 0)
        found.push_back({i, "created", sha256_hex(content_of_file(full, info).value_or(""))});
      continue;
    }
    if (!last_replaced.empty()) {
      found.push_back({i, path_exists(last_replaced) ? "replaced by something else" : "deleted", {}});
      continue;
    }
    if (::lstat(full.c_str(), &info) != 0) {
      found.push_back({i, "deleted", {}});
      continue;
    }
    std::string stamp = stamp_of_file(info);
    if (stamp == file.stamp) continue;
    const auto content = content_of_file(full, info);
    const std::string hash = content ? sha256_hex(*content) : "";
    const bool same_kind = S_ISLNK(info.st_mode) == file.link && content;
    const bool same_mode = file.link || (info.st_mode & 07777) == file.mode;
    if (same_kind && same_mode && hash == file.sha256) {
      file.stamp = std::move(stamp);
    } else {
      found.push_back({i, same_kind ? "changed" : "replaced by something else", hash});
    }
  }
  return found;
}

Status WatchedFiles::put_back(const Change& change, const std::string& kept) {
  File& file = files_[change.file];
  const std::string copy = join_path(store_, file.sha256), full = where(file);
  const auto content = is_real_file(copy) ? read_file(copy) : Result<std::string>("");
  if (!content || sha256_hex(*content) != file.sha256)
    return fail(ErrorKind::kIo, "its copy {} is missing or was changed", copy);
  if (const std::string folder = replaced_folder(project_, file.path); !folder.empty())
    TRY(move_away(folder, kept.substr(0, kept.size() - file.path.size()) + folder.substr(project_.size() + 1)));
  TRY(make_directories(parent_path(full)));
  TRY(move_away(full, kept));
  if (file.link) {
    if (::symlink(content->c_str(), full.c_str()) != 0)
      return fail(ErrorKind::kIo, "cannot create {}: {}", full, std::strerror(errno));
  } else {
    TRY(write_file_atomically(full, *content, file.mode));
    if (::chmod(full.c_str(), file.mode) != 0)
      return fail(ErrorKind::kIo, "cannot set the mode of {}: {}", full, std::strerror(errno));
  }
  file.stamp.clear();
  return {};
}

}  // namespace ralph
