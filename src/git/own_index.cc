#include "git/own_index.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/text.h"
#include "git/config_file.h"
#include "git/hidden_files.h"
#include "git/index_file.h"
#include "git/loose_head.h"
#include "git/repository.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr std::uint64_t kMostRead = 256 << 20;
constexpr size_t kMostFiles = 50'000;
constexpr size_t kMostInMemory = 16 << 20;

// git rereads every file that is not older than its index, so the copy gets the time of the original, or one long ago.
Status copy_index(const std::string& text, const timespec& time, const std::string& to) {
  TRY(replace_file(to, text, 0600));
  const timespec both[] = {time, time};
  if (::utimensat(AT_FDCWD, to.c_str(), both, AT_SYMLINK_NOFOLLOW) != 0)
    return fail(ErrorKind::kIo, "cannot set the time of {}: {}", to, errno_text(errno));
  return {};
}

std::string look_in(const std::string& folder) {
  return join_path(folder, "index.look");
}

// The folder in which the index is used. A killed git leaves a lock there that would make all others fail. No other git
// is running in it.
Status prepare_folder(const std::string& folder) {
  TRY(make_directories(folder));
  ::unlink((look_in(folder) + ".lock").c_str());
  return {};
}

// ctime can't be set back.
std::string stamp_at(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return "gone";
  return fmt::format("{} {} {:o} {}.{}", info.st_ino, info.st_size, info.st_mode, info.st_ctim.tv_sec,
                     info.st_ctim.tv_nsec);
}

// Identifies the repository of `top`, with the settings that could move its work tree.
std::string repository_at(const std::string& top) {
  const std::string folder = join_path(top, ".git");
  struct stat info{};
  if (::lstat(folder.c_str(), &info) != 0 || !is_own_repository(top)) return {};
  std::string text = fmt::format("{} {}", info.st_dev, info.st_ino);
  for (const ConfigEntry& entry : repository_config(top)) text += fmt::format("\n{}={}", entry.key(), entry.value);
  return text;
}

Result<std::string> answer_about_index(const Git& git, const std::vector<std::string>& words) {
  TRY_VALUE(GitEnd end, git(words));
  if (end.code == 0 && !end.cut) return std::move(end.output);
  return fail(ErrorKind::kIo, "git {} with ralph's own index failed: {}", words[0], first_line(end.errors));
}

}  // namespace

OwnIndex::OwnIndex(std::string folder, const MakeGit& make_git, TakenIndex taken)
    : folder_(std::move(folder)),
      taken_(std::move(taken)),
      git_(make_git({})),
      own_(make_git({{"GIT_INDEX_FILE", look_in(folder_)}})) {}

std::string OwnIndex::file() const {
  return join_path(folder_, "index");
}

// git is asked once. After that, the answer can differ only in the commit, unless the repository or its settings were
// changed.
Result<OwnIndex::Place> OwnIndex::place() const {
  if (last_place_ && last_place_->repository == repository_at(last_place_->place.top)) {
    if (auto head = read_loose_head(last_place_->place.top)) {
      Place now = last_place_->place;
      now.commit = std::move(head->commit);
      return now;
    }
  }
  TRY_VALUE(Place now, ask_for_place());
  const bool plain = !now.git_dir.empty() && now.git_dir == join_path(now.top, ".git") &&
                     now.index == join_path(now.git_dir, "index") && is_own_repository(now.top);
  last_place_.reset();
  if (plain) last_place_ = LastPlace{now, repository_at(now.top)};
  return now;
}

Result<OwnIndex::Place> OwnIndex::ask_for_place() const {
  TRY_VALUE(const GitEnd end, git_({"rev-parse", "--absolute-git-dir", "--show-toplevel", "--path-format=absolute",
                                    "--git-path", "index", "HEAD"}));
  const std::vector<std::string> lines = split(end.output, '\n');
  if (lines.size() < 4) return Place{};
  return Place{lines[0], lines[1], lines[2], end.code == 0 ? lines[3] : ""};
}

// Whether all tracked files together can be read in a moment.
bool OwnIndex::is_small(const std::string& top, const std::string& index) const {
  std::vector<std::string> paths;
  if (const auto entries = read_index(index)) {
    for (const IndexEntry& entry : *entries) paths.push_back(entry.path);
  } else {
    const auto files = git_({"-C", top, "ls-files", "-z"});
    if (!files || files->code != 0 || files->cut) return false;
    paths = split(files->output, '\0');
  }
  if (paths.size() > kMostFiles) return false;
  std::uint64_t bytes = 0;
  for (const std::string& path : paths) {
    struct stat info{};
    if (::lstat(join_path(top, path).c_str(), &info) == 0 && S_ISREG(info.st_mode))
      bytes += static_cast<std::uint64_t>(info.st_size);
  }
  return bytes <= kMostRead;
}

Result<TakenIndex> OwnIndex::take() {
  taken_ = {};
  prepared_.reset();
  TRY_VALUE(const Place now, place());
  if (now.git_dir.empty()) return taken_;
  const std::string working = look_in(folder_);
  TRY(prepare_folder(folder_));
  struct stat info{};
  if (::lstat(now.index.c_str(), &info) != 0) {
    TRY(replace_file(file(), "", 0600));  // nothing was ever added
  } else {
    TRY_VALUE(const std::string text, read_file(now.index));
    // An agent of an earlier run may have forged it: this makes git read all files whose times it would otherwise
    // trust.
    constexpr timespec kLongAgo = {1, 0};
    TRY(copy_index(text, is_small(now.top, text) ? kLongAgo : info.st_mtim, working));
    // Complete, in one file, and without the data on which folders have no new files.
    const std::vector<std::string> words = {"update-index", "--no-split-index", "--no-untracked-cache",
                                            "--no-fsmonitor", "--force-write-index"};
    TRY(answer_about_index(own_, words));
    TRY_VALUE(const std::string whole, read_file(working));
    if (::lstat(working.c_str(), &info) != 0)
      return fail(ErrorKind::kIo, "cannot read {}: {}", working, errno_text(errno));
    TRY(copy_index(whole, info.st_mtim, file()));
  }
  TRY_VALUE(content_, read_file(file()));
  taken_.hash = sha256_hex(content_);
  time_ = info.st_mtim;
  if (content_.size() > kMostInMemory) content_.clear();
  taken_.git_dir = now.git_dir;
  TRY_VALUE(const std::vector<Change> changes, compare(Extent::kTracked, now));
  if (changes.empty()) return taken_;
  TRY_VALUE(const std::vector<std::string> shown, Repository(git_, now.top).uncommitted_paths());
  for (const Change& change : changes) {
    if (!is_one_of(change.path, shown)) taken_.hidden[change.path] = stamp_at(join_path(now.top, change.path));
  }
  return taken_;
}

// HEAD, with the times and flags of the copy for files that have not changed since.
Status OwnIndex::prepare(const Place& now) const {
  const std::string working = look_in(folder_);
  if (prepared_ && prepared_->commit == now.commit) {
    TRY(prepare_folder(folder_));
    return copy_index(prepared_->content, prepared_->time, working);
  }
  prepared_.reset();
  TRY(prepare_from_scratch(now));
  struct stat info{};
  if (::lstat(working.c_str(), &info) != 0 || static_cast<size_t>(info.st_size) > kMostInMemory) return {};
  TRY_VALUE(std::string content, read_file(working));
  prepared_ = Prepared{now.commit, std::move(content), info.st_mtim};
  return {};
}

Status OwnIndex::prepare_from_scratch(const Place& now) const {
  struct stat info{};
  timespec time = time_;
  std::string text = content_;
  if (text.empty() && ::lstat(file().c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
    text = read_file(file()).value_or("");
    time = info.st_mtim;
  }
  const bool good = !text.empty() && sha256_hex(text) == taken_.hash;
  const std::string working = look_in(folder_);
  TRY(prepare_folder(folder_));
  ::unlink(working.c_str());
  if (good) TRY(copy_index(text, time, working));
  std::vector<std::string> words = {"read-tree"};
  if (now.commit.empty()) {
    words.emplace_back("--empty");
  } else {
    if (good) words.insert(words.end(), {"-i", "--reset"});
    words.push_back(now.commit);
  }
  TRY(answer_about_index(own_, words));
  return {};
}

Result<std::vector<OwnIndex::Change>> OwnIndex::changes(Extent extent) const {
  if (taken_.hash.empty()) return std::vector<Change>();
  TRY_VALUE(const Place now, place());
  if (!is_known(now)) return std::vector<Change>();
  return changes(extent, now);
}

Result<std::optional<OwnIndex::Look>> OwnIndex::look() const {
  if (taken_.hash.empty()) return std::optional<Look>();
  TRY_VALUE(const Place now, place());
  if (!is_known(now)) return std::optional<Look>();
  TRY_VALUE(std::vector<Change> found, changes(Extent::kAll, now));
  return std::optional(Look{now.commit, std::move(found)});
}

// Which files git is told to overlook, according to the index that was prepared last.
Result<std::vector<HiddenFile>> OwnIndex::flagged() const {
  if (prepared_ && prepared_->flagged) return *prepared_->flagged;
  const auto entries = prepared_ ? read_index(prepared_->content) : std::nullopt;
  if (entries && std::ranges::none_of(*entries, [](const IndexEntry& entry) { return entry.hidden; })) {
    prepared_->flagged.emplace();
    return *prepared_->flagged;
  }
  TRY_VALUE(std::vector<HiddenFile> files, hidden_files(own_));
  if (prepared_) prepared_->flagged = files;
  return files;
}

Result<std::vector<OwnIndex::Change>> OwnIndex::changes(Extent extent, const Place& now) const {
  TRY_VALUE(std::vector<Change> changes, compare(extent, now));
  std::erase_if(changes, [&](const Change& change) {
    const auto was = taken_.hidden.find(change.path);
    return was != taken_.hidden.end() && was->second == stamp_at(join_path(now.top, change.path));
  });
  return changes;
}

// The given tracked paths that really differ from HEAD. The copy records old file sizes, and git treats a different
// size as a change, although a checkout with other line endings than before also has one.
Result<std::vector<std::string>> OwnIndex::confirmed(const std::vector<std::string>& paths, const Place& now) const {
  std::vector<std::string> sure;
  if (paths.empty()) return sure;
  // The repository's index may be corrupt.
  const auto shown = Repository(git_, now.top).uncommitted_paths().value_or(std::vector<std::string>{});
  const std::set<std::string> known(shown.begin(), shown.end());
  std::vector<HiddenFile> unsure;
  for (const std::string& path : paths) {
    if (known.contains(path) || is_real_folder(join_path(now.top, path))) {
      sure.push_back(path);
    } else {
      unsure.push_back({path, false});
    }
  }
  if (unsure.empty()) return sure;
  TRY_VALUE(const auto differ, hidden_changes(own_, now.top, unsure));
  for (const HiddenChange& change : differ) sure.push_back(change.path);
  std::ranges::sort(sure);
  return sure;
}

Result<std::vector<OwnIndex::Change>> OwnIndex::compare(Extent extent, const Place& now) const {
  std::vector<Change> changes;
  TRY(prepare(now));
  TRY_VALUE(const std::string status,
            answer_about_index(own_, {"status", "--porcelain", "-z", "--no-renames",
                                      extent == Extent::kAll ? "--untracked-files=all" : "--untracked-files=no"}));
  std::vector<std::string> tracked, untracked;
  for (const std::string& field : split(status, '\0')) {
    if (field.size() > 3) (field.starts_with("??") ? untracked : tracked).push_back(field.substr(3));
  }
  TRY_VALUE(const auto differ, confirmed(tracked, now));
  for (const std::string& path : differ) changes.push_back({path});
  for (const std::string& path : untracked) changes.push_back({path, true});
  TRY_VALUE(const auto idents, foreign_idents(own_, now.top));
  for (const std::string& path : idents) {
    if (!is_one_of(path, differ)) changes.push_back({path, false, true});
  }
  if (extent != Extent::kAll) return changes;
  TRY_VALUE(const std::vector<HiddenFile> overlooked, flagged());
  if (overlooked.empty()) return changes;
  TRY_VALUE(const auto hidden, hidden_changes(own_, now.top, overlooked));
  for (const HiddenChange& change : hidden) changes.push_back({change.path});
  return changes;
}

}  // namespace ralph
