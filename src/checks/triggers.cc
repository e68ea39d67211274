#include "checks/triggers.h"

#include <algorithm>
#include <sys/stat.h>

#include "base/sha256.h"
#include "base/text.h"
#include "checks/file_facts.h"
#include "checks/trigger_place.h"
#include "git/repository_mark.h"
#include "os/clock.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr off_t kMostCopied = 64 << 20;
constexpr size_t kMostInMemory = 1 << 20;
constexpr off_t kMostReadToShow = 8 << 20;
constexpr size_t kMostInProgram = 5000;  // files per program

using Places = std::map<std::string, TriggerPlace>;

// Large files whose changes are only reported are compared by their stamp, without reading them.
bool is_only_stamped(const TriggerPlace& place, const struct stat& info) {
  return !place.put_back && S_ISREG(info.st_mode) && info.st_size > kMostReadToShow;
}

// A pipe, a socket or a device, or a link to one.
bool is_special(const std::string& path, const struct stat& info) {
  struct stat behind = info;
  if (S_ISLNK(info.st_mode) && ::stat(path.c_str(), &behind) != 0) return false;
  return !S_ISREG(behind.st_mode) && !S_ISDIR(behind.st_mode);
}

}  // namespace

std::map<std::string, TriggerPlace> Triggers::files_now(LstatCache& lstats) const {
  Places all;
  for (const TriggerPlace& place : places_) {
    Places found = files_of(place, lstats);
    all.merge(found);
  }
  return all;
}

Status Triggers::remember(const TriggerPlace& place, bool copied) {
  struct stat info{};
  if (place.kind == TriggerKind::kPlainFile || ::lstat(place.path.c_str(), &info) != 0) return {};
  File file;
  file.mode = info.st_mode & 07777;
  file.link = S_ISLNK(info.st_mode);
  file.stamp = stamp_of_file(info);
  if (is_only_stamped(place, info)) {
    file.sha256 = file.part = file.stamp;
  } else if (S_ISREG(info.st_mode) && (!copied || info.st_size > kMostCopied)) {
    file.sha256 = file.part = hash_of_file(place.path).value_or(file.stamp);  // too large to be copied
  } else if (auto content = content_of_file(place.path, info)) {
    file.sha256 = sha256_hex(*content);
    file.part = file.link || is_whole(place.kind) ? file.sha256 : sha256_hex(compared_part(place, *content));
    const std::string copy = join_path(store_, file.sha256);
    if (place.put_back && !path_exists(copy)) TRY(replace_file(copy, *content, 0600));
    if (content->size() <= kMostInMemory && place.kind != TriggerKind::kProgram) file.content = std::move(content);
  }
  files_.emplace(place.path, std::move(file));
  return {};
}

void Triggers::remember_folders(const std::string& path, const std::vector<std::string>& roots) {
  for (const std::string& root : roots) {
    for (std::string above = parent_path(path); above.starts_with(root + "/"); above = parent_path(above))
      folders_.emplace(above, is_real_folder(above) ? Folder::kReal
                              : path_exists(above)  ? Folder::kOther
                                                    : Folder::kNone);
  }
}

// Programs that are too large to be copied as a whole; none of their files is copied.
static std::vector<std::string> large_programs(const Places& files, const std::vector<TriggerPlace>& places,
                                               LstatCache& lstats) {
  std::vector<std::string> large;
  for (const TriggerPlace& place : places) {
    off_t bytes = 0;
    size_t count = 0;
    for (const auto& [path, file] : files) {
      if (place.kind != TriggerKind::kProgram || file.kind != TriggerKind::kProgram || !has_part(place, path)) continue;
      bytes += lstats.at(path)->st_size;
      ++count;
    }
    if (bytes > kMostCopied || count > kMostInProgram) large.insert(large.end(), place.keys.begin(), place.keys.end());
  }
  return large;
}

static std::optional<RepositoryMark> mark_at(const TriggerPlace& place) {
  if (place.kind != TriggerKind::kRepository || place.keys.size() != 4) return std::nullopt;
  return RepositoryMark{parent_path(place.path), place.path,    place.keys[0],
                        place.keys[1],           place.keys[2], place.keys[3]};
}

Result<Triggers> Triggers::take(const std::vector<TriggerPlace>& places, const std::vector<std::string>& roots,
                                const std::string& store, Repository repository) {
  Triggers triggers(store);
  triggers.repository_ = std::move(repository);
  triggers.places_ = places;
  triggers.roots_ = roots;
  TRY(make_directories(store));
  for (const TriggerPlace& place : places) {
    const bool folder = place.kind == TriggerKind::kFolder || place.kind == TriggerKind::kGitFolders;
    triggers.remember_folders(folder ? join_path(place.path, "x") : place.path, roots);
    // HEAD resolved to this commit a moment ago, and no agent has run since.
    if (const auto mark = mark_at(place); mark && !mark->commit.empty())
      triggers.heads_[place.path] = head_state(*mark);
    if (place.kind != TriggerKind::kProgram) continue;
    for (const std::string& key : place.keys)
      triggers.remember_folders(is_real_folder(key) ? join_path(key, "x") : key, roots);
  }
  LstatCache lstats(roots);
  const Places files = triggers.files_now(lstats);
  const std::vector<std::string> large = large_programs(files, places, lstats);
  for (const auto& [path, place] : files) {
    const bool copied = place.kind != TriggerKind::kProgram ||
                        std::ranges::none_of(large, [&](const auto& part) { return is_within(path, part); });
    TRY(triggers.remember(place, copied));
  }
  const std::string text = triggers.to_text();
  triggers.manifest_ = sha256_hex(text);
  TRY(replace_file(list_in(store), text, 0600));
  return triggers;
}

// Folders that have been replaced by something else: whatever is reached through them is not what was there before.
std::vector<std::string> Triggers::replaced_folders(LstatCache& lstats) const {
  std::vector<std::string> found;
  for (const auto& [path, was] : folders_) {  // parents come first
    const bool below = !found.empty() && path.starts_with(found.back() + "/");
    if (!below && was != Folder::kOther && lstats.at(path) && !lstats.is_folder(path)) found.push_back(path);
  }
  return found;
}

std::vector<Triggers::Change> Triggers::lost_repositories() const {
  std::vector<Change> lost;
  for (const TriggerPlace& place : places_) {
    const auto mark = mark_at(place);
    std::string what = mark ? repository_fault(*mark) : "";
    if (what == "deleted" && path_exists(place.path)) what = "replaced by something else";
    if (!what.empty()) lost.push_back({place, std::move(what), {}});
  }
  return lost;
}

std::vector<Triggers::Change> Triggers::headless_repositories() {
  std::vector<Change> found;
  for (const TriggerPlace& place : places_) {
    const auto mark = mark_at(place);
    if (!mark) continue;
    HeadState& good = heads_[place.path];
    if (good.still_holds() || !repository_fault(*mark).empty()) continue;
    HeadState now = head_state(*mark);
    std::string what = head_fault(*mark);
    good = what.empty() ? std::move(now) : HeadState();
    if (what.empty()) continue;
    Change change{place, std::move(what), {}};
    if (change.what == kHeadless) change.place.path = join_path(place.path, "HEAD");
    found.push_back(std::move(change));
  }
  return found;
}

std::optional<Triggers::Change> Triggers::look_at(const TriggerPlace& place, LstatCache& lstats) {
  const auto known = files_.find(place.path);
  const struct stat* info = lstats.at(place.path);
  if (!info) {
    if (known == files_.end()) return std::nullopt;
    return Change{place, "deleted", {}};
  }
  const std::string stamp = stamp_of_file(*info);
  // Reading a pipe may block forever, so in the project it is removed even if changes of the file are otherwise only
  // reported.
  const auto and_readable = [&](Change change) {
    const auto is_around = [&](const std::string& root) { return is_within(place.path, root); };
    if (!is_special(place.path, *info)) return change;
    change.what = "replaced by something else";
    change.place.put_back = change.place.put_back || std::ranges::any_of(roots_, is_around);
    return change;
  };
  if (place.kind == TriggerKind::kPlainFile)
    return is_special(place.path, *info) ? std::optional(and_readable({place, "", sha256_hex(stamp)})) : std::nullopt;
  const bool link = S_ISLNK(info->st_mode);
  const bool large = S_ISREG(info->st_mode) && info->st_size > kMostCopied;
  if (known == files_.end()) {
    const auto content = large ? std::nullopt : content_of_file(place.path, *info);
    if (!is_whole(place.kind) && !link && content && compared_part(place, *content).empty()) return std::nullopt;
    Change made{place, "created", sha256_hex(content.value_or(stamp))};
    if (content && !link) made.names = changed_names(place, "", *content);
    return and_readable(std::move(made));
  }
  File& file = known->second;
  if (file.stamp == stamp) return std::nullopt;
  const bool stamped = is_only_stamped(place, *info);
  const auto content = large || stamped ? std::nullopt : content_of_file(place.path, *info);
  const std::string part = stamped   ? stamp
                           : large   ? hash_of_file(place.path).value_or(stamp)
                           : content ? sha256_hex(link ? *content : compared_part(place, *content))
                                     : std::string();
  const bool same_mode = link || !is_whole(place.kind) || (info->st_mode & 07777) == file.mode;
  if (link == file.link && part == file.part && same_mode) {
    file.stamp = stamp;
    return std::nullopt;
  }
  const bool other = link != file.link || (!content && !large && !stamped);
  Change change{place, other ? "replaced by something else" : "changed", content ? sha256_hex(*content) : stamp};
  if (!is_whole(place.kind) && content && !link && !file.link)
    change.names = changed_names(place, content_before(place.path).value_or(""), *content);
  return and_readable(std::move(change));
}

// The place through which the file was found.
const TriggerPlace* Triggers::place_of(const std::string& path) const {
  for (const TriggerPlace& place : places_) {
    if (place.kind == TriggerKind::kProgram ? has_part(place, path)
        : is_whole(place.kind)              ? is_within(path, place.path)
                                            : place.path == path)
      return &place;
  }
  return nullptr;
}

// Merges the changed files of a program into one change.
void Triggers::join_programs(std::vector<Change>& changes) const {
  for (const TriggerPlace& program : places_) {
    if (program.kind != TriggerKind::kProgram) continue;
    Change joined{{program.path, TriggerKind::kProgram, program.put_back, program.why}, "changed", {}};
    std::string all;
    std::erase_if(changes, [&](const Change& change) {
      const bool part = change.place.kind == TriggerKind::kProgram || change.folder;
      if (!part || !change.others.empty() || !has_part(program, change.place.path)) return false;
      all += change.place.path + change.what + change.sha256 + "\n";
      joined.others.push_back(change.place.path);
      return true;
    });
    joined.sha256 = sha256_hex(all);
    if (!joined.others.empty()) changes.push_back(std::move(joined));
  }
}

std::vector<Triggers::Change> Triggers::changes() {
  std::vector<Change> lost = lost_repositories();
  const MonotonicTime began = SystemClock().monotonic();
  if (lost.empty() && quiet_.still_holds(began)) return lost;
  LstatCache lstats(roots_);
  std::vector<Change> found = changes(lstats, std::move(lost));
  if (found.empty()) {
    quiet_.remember(lstats, began);
  } else {
    quiet_.forget();
  }
  return found;
}

std::vector<Triggers::Change> Triggers::changes(LstatCache& lstats, std::vector<Change> lost) {
  std::vector<Change> found = lost;
  const auto is_lost = [&lost](const std::string& path) {
    return std::ranges::any_of(lost, [&](const Change& repository) {
      return is_within(path, repository.place.path) || is_within(path, repository.place.keys[0]) ||
             is_within(path, repository.place.keys[1]);
    });
  };
  const std::vector<std::string> replaced = replaced_folders(lstats);
  for (const std::string& folder : replaced) {
    if (is_lost(folder)) continue;
    Change change{{folder, TriggerKind::kFolder}, "replaced by something else", {}, true};
    change.place.put_back = std::ranges::any_of(
        places_, [&](const TriggerPlace& place) { return place.put_back && is_within(place.path, folder); });
    const struct stat* info = lstats.at(folder);
    change.sha256 = sha256_hex(content_of_file(folder, *info).value_or(stamp_of_file(*info)));
    found.push_back(std::move(change));
  }
  const auto is_behind = [&](const std::string& path) {
    return std::ranges::any_of(replaced, [&](const std::string& folder) { return path.starts_with(folder + "/"); });
  };
  // A link that was replaced by a folder is restored as a whole.
  std::vector<std::string> links;
  for (const auto& [path, file] : files_) {
    const TriggerPlace* place = file.link && lstats.is_folder(path) ? place_of(path) : nullptr;
    if (place && place->put_back) links.push_back(path);
  }
  const auto is_below_link = [&](const std::string& path) {
    return std::ranges::any_of(links, [&](const std::string& link) { return path.starts_with(link + "/"); });
  };
  Places all = files_now(lstats);
  for (const auto& [path, file] : files_) {
    if (all.contains(path)) continue;
    const TriggerPlace* place = place_of(path);
    if (!place) continue;
    TriggerKind kind = place->path == path || place->kind == TriggerKind::kProgram ? place->kind : TriggerKind::kFile;
    if (place->kind == TriggerKind::kGitFolders && base_name(path).starts_with("config"))
      kind = TriggerKind::kGitConfig;
    all.emplace(path, file_of(*place, path, kind));
  }
  for (const auto& [path, place] : all) {
    if (is_lost(path) || is_one_of(path, replaced) || is_below_link(path)) continue;
    if (is_behind(path)) {
      if (files_.contains(path)) found.push_back({place, "deleted", {}});
    } else if (auto change = look_at(place, lstats)) {
      found.push_back(*std::move(change));
    }
  }
  join_programs(found);
  return found;
}

}  // namespace ralph
