#include "hooks/log.h"

#include <cstdio>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/time.h"
#include "base/utf8.h"
#include "journal/redactor.h"
#include "json/value.h"
#include "os/clock.h"
#include "os/environment.h"
#include "os/files.h"
#include "session/loop_store.h"
#include "settings/owner.h"
#include "settings/ralph_folder.h"

namespace ralph {
namespace {

constexpr off_t kLargest = 1024 * 1024;
constexpr size_t kLongest = 4000;  // characters of one note

bool is_at(const std::string& path, const struct stat& wanted) {
  struct stat there{};
  return ::lstat(path.c_str(), &there) == 0 && there.st_ino == wanted.st_ino && there.st_dev == wanted.st_dev;
}

// The log, locked until it is closed. Hooks of several sessions write it concurrently, so only the holder of the
// current file's lock may rename it when it is large.
Result<Fd> open_locked(const std::string& path) {
  constexpr int kTries = 10;
  for (int tries = 1;; ++tries) {
    TRY_VALUE(Fd file, open_for_append(path));
    struct stat info{};
    if (::flock(file.get(), LOCK_EX) != 0 || ::fstat(file.get(), &info) != 0 || tries == kTries) return file;
    if (!is_at(path, info)) continue;  // another hook has just renamed it
    if (info.st_size <= kLargest) return file;
    ::rename(path.c_str(), (path + ".old").c_str());
  }
}

}  // namespace

void log_hook(const std::string& cwd, const HookNote& note) {
  const std::string ralph = join_path(project_for_loop(cwd), ".ralph");
  const bool here = is_real_folder(ralph) && owners_of(Environment::of_this_process()).fault(ralph, "loop").empty();
  // Errors are always logged somewhere.
  const std::string state = note.kind == "error" ? state_folder(Environment::of_this_process()) : "";
  const std::string folder = here ? join_path(ralph, "loop") : state;
  if (folder.empty() || !make_directories(folder) || !is_real_folder(folder)) return;
  const std::string path = join_path(folder, "hooks.log");
  // Mask before truncating: half a token has no known shape.
  const std::string what = Redactor(Environment::of_this_process().as_lines()).redact(note.what);
  const json::object line{{"time", to_iso8601(SystemClock().wall())},
                          {"hook", to_json_string(note.hook)},
                          {"session", to_json_string(note.session)},
                          {"kind", to_json_string(note.kind)},
                          {"what", to_json_string(prefix_of_characters(what, kLongest))}};
  const Result<Fd> file = open_locked(path);
  if (file) static_cast<void>(write_all(file->get(), to_compact_json(line) + "\n", path));
}

}  // namespace ralph
