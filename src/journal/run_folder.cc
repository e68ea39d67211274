#include "journal/run_folder.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "journal/reader.h"
#include "journal/writer.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kSecondLength = 15;  // 20261115-202233
constexpr size_t kIdLength = kSecondLength + 5;
constexpr size_t kShownIds = 5;

std::string runs_path(const std::string& project) {
  return join_path(project, ".ralph/runs");
}

unsigned random_number() {
  std::uint16_t number = 0;
  // The number only has to be unique, and the folder is created exclusively, so a failure is harmless.
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number = static_cast<std::uint16_t>(::getpid());
  return number;
}

unsigned number_of(std::string_view id) {
  unsigned number = 0;
  std::from_chars(id.data() + kSecondLength + 1, id.data() + id.size(), number, 16);
  return number;
}

std::string with_number(std::string_view id, unsigned number) {
  return fmt::format("{}-{:04x}", id.substr(0, kSecondLength), number);
}

tl::unexpected<Error> cannot(std::string_view what, const std::string& path, int error) {
  if (error == ELOOP || error == ENOTDIR) {
    return fail(ErrorKind::kIo, "cannot {} {}: it is not a folder but a symlink or a file; remove it", what, path);
  }
  return fail(ErrorKind::kIo, "cannot {} {}: {}", what, path, errno_text(error));
}

// Opens folder `name` in `parent`, not through a symlink.
Result<Fd> open_folder(int parent, const char* name, const std::string& path) {
  Fd fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return cannot("open", path, errno);
  return fd;
}

Result<Fd> make_and_open_folder(int parent, const char* name, const std::string& path) {
  if (::mkdirat(parent, name, 0755) != 0 && errno != EEXIST) return cannot("create the folder", path, errno);
  return open_folder(parent, name, path);
}

// The ids of the run folders in an open folder, newest first.
Result<std::vector<std::string>> ids_in(Fd folder, const std::string& path) {
  const int fd = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, 0);  // fdopendir takes ownership
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  if (!stream) return cannot("read the folder", path, errno);
  std::vector<std::string> ids;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (!is_run_id(entry->d_name)) continue;
    struct stat info{};
    if (::fstatat(folder.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(info.st_mode)) continue;
    ids.emplace_back(entry->d_name);
  }
  std::sort(ids.rbegin(), ids.rend());
  return ids;
}

// The highest number of a run of the same second.
std::optional<unsigned> last_number(const std::vector<std::string>& ids, std::string_view id) {
  for (const std::string& other : ids) {
    if (other.compare(0, kSecondLength, id.substr(0, kSecondLength)) == 0) return number_of(other);
  }
  return std::nullopt;
}

// When its first record was written or, if there is none, when its folder was last modified: the run has just begun, or
// was killed at its start.
WallTime beginning_of(const RunFolder& folder) {
  if (auto reader = JournalReader::open(join_path(folder.path, kJournalFile))) {
    const auto first = reader->next();
    if (first && *first) return (*first)->time;
  }
  struct stat info{};
  if (::lstat(folder.path.c_str(), &info) != 0) return WallTime::max();
  return WallTime(std::chrono::seconds(info.st_mtim.tv_sec) + Milliseconds(info.st_mtim.tv_nsec / 1'000'000));
}

}  // namespace

std::string new_run_id(WallTime now) {
  // Leave room at the upper end for later runs of the same second.
  return fmt::format("{}-{:04x}", to_compact_utc(now), random_number() % 0xe000);
}

std::string enclosing_run_id(const Environment& environment) {
  return environment.get("RALPH_RUN_ID").value_or("");
}

bool is_run_id(std::string_view text) {
  if (text.size() != kIdLength || text[8] != '-' || text[kSecondLength] != '-') return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool hex = i > kSecondLength && text[i] >= 'a' && text[i] <= 'f';
    if (i != 8 && i != kSecondLength && !digit && !hex) return false;
  }
  return true;
}

Result<RunFolder> create_run_folder(const std::string& project, std::string id) {
  if (!is_run_id(id)) return fail(ErrorKind::kInternal, "\"{}\" is not a run id", id);
  const std::string path = runs_path(project);
  const Fd root(::open(project.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return cannot("open", project, errno);
  TRY_VALUE(const Fd ralph, make_and_open_folder(root.get(), ".ralph", join_path(project, ".ralph")));
  TRY_VALUE(const Fd runs, make_and_open_folder(ralph.get(), "runs", path));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    TRY_VALUE(Fd again, open_folder(ralph.get(), "runs", path));
    TRY_VALUE(const std::vector<std::string> ids, ids_in(std::move(again), path));
    if (const auto last = last_number(ids, id); last && *last >= number_of(id)) {
      // Small steps, so that many runs fit in one second. When the numbers are used up, only the order is lost.
      const unsigned next = *last + 1 + random_number() % 64;
      id = with_number(id, next <= 0xffff ? next : random_number());
    }
    if (::mkdirat(runs.get(), id.c_str(), 0700) == 0) return RunFolder{id, join_path(path, id)};
    if (errno != EEXIST) return cannot("create the folder", join_path(path, id), errno);
    id = with_number(id, random_number());
  }
  return fail(ErrorKind::kIo, "cannot find a free run id in {}; remove runs of {} there", path,
              id.substr(0, kSecondLength));
}

Result<std::vector<RunFolder>> list_runs(const std::string& project) {
  const std::string path = runs_path(project);
  Fd ralph(::open(join_path(project, ".ralph").c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!ralph && errno == ENOENT) return std::vector<RunFolder>{};
  if (!ralph) return cannot("open", join_path(project, ".ralph"), errno);
  Fd runs(::openat(ralph.get(), "runs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!runs && errno == ENOENT) return std::vector<RunFolder>{};
  if (!runs) return cannot("open", path, errno);
  TRY_VALUE(const std::vector<std::string> ids, ids_in(std::move(runs), path));
  std::vector<RunFolder> folders;
  for (const std::string& id : ids) folders.push_back({id, join_path(path, id)});
  std::ranges::sort(folders, began_later);
  return folders;
}

bool began_later(const RunFolder& one, const RunFolder& other) {
  const std::string_view second = std::string_view(one.id).substr(0, kSecondLength);
  if (const int order = second.compare(std::string_view(other.id).substr(0, kSecondLength)); order != 0)
    return order > 0;
  const WallTime mine = beginning_of(one), its = beginning_of(other);
  return mine == its ? one.id > other.id : mine > its;
}

Result<RunFolder> find_run(const std::string& project, std::string_view text) {
  TRY_VALUE(const std::vector<RunFolder> runs, list_runs(project));
  if (runs.empty()) return fail(ErrorKind::kUsage, "there are no runs in {} yet; 'ralph run' makes one", project);
  if (text == "last") return runs.front();

  std::vector<RunFolder> fitting;
  std::vector<std::string_view> ids;
  for (const RunFolder& run : runs) {
    if (run.id == text) return run;
    if (!text.empty() && run.id.starts_with(text)) fitting.push_back(run);
    ids.push_back(run.id);
  }
  if (fitting.size() == 1) return fitting.front();

  std::vector<std::string> near;
  for (const RunFolder& run : fitting) near.push_back(run.id);
  if (near.empty()) {
    if (const std::string_view best = nearest(text, ids); !best.empty()) near.emplace_back(best);
    for (std::string_view id : ids) {
      if (near.size() < kShownIds && std::find(near.begin(), near.end(), id) == near.end()) near.emplace_back(id);
    }
  }
  const size_t more = near.size() > kShownIds ? near.size() - kShownIds : 0;
  near.resize(near.size() - more);
  const std::string listed = join(near, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
  if (!fitting.empty()) {
    return fail(ErrorKind::kUsage, "\"{}\" is the beginning of several runs: {}; type more of one", text, listed);
  }
  return fail(ErrorKind::kUsage,
              "there is no run \"{}\"; there are {} ('ralph runs list' shows all, \"last\" is the newest)", text,
              listed);
}

}  // namespace ralph
