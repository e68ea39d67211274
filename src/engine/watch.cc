#include "engine/watch.h"

#include <algorithm>
#include <sys/stat.h>

#include "base/text.h"
#include "base/utf8.h"
#include "os/files.h"

namespace ralph {
namespace {

constexpr size_t kMostListed = 100;
constexpr size_t kMostRedacted = 16 << 20;
constexpr std::string_view kStoreEnd = ".watched";

// For the agent: which files it must not change, and which changes it should reconsider.
std::string watch_message(const record::FilesChanged& changed) {
  std::string put_back, failed, reported;
  for (const record::ChangedFile& file : changed.files) {
    const std::string path = fit_to_width(file.path, 200);
    const std::string line = fmt::format("- {} was {}{}\n", path, file.what,
                                         file.note.empty() ? "" : fmt::format(" ({})", fit_to_width(file.note, 200)));
    (file.action == WatchAction::kPutBack ? put_back : file.action == WatchAction::kFailed ? failed : reported) += line;
  }
  std::string text;
  if (!put_back.empty())
    text +=
        "These files are protected and were put back as they were when the run began. Do the work without changing "
        "them:\n" +
        put_back;
  if (!failed.empty())
    text +=
        "These files are protected. The work is not complete until they are again as they were when the run "
        "began:\n" +
        failed;
  if (!reported.empty())
    text +=
        "These files decide what the checks prove, and their change was reported to the user. Undo it unless the "
        "work needs it:\n" +
        reported;
  if (changed.more > 0) text += fmt::format("- and {} more\n", changed.more);
  return std::string(trim(text));
}

}  // namespace

std::string free_name_for(const Run& run, const std::string& path) {
  const int iteration = run.progress().iteration;
  std::string name = fmt::format("changed/{}/{}", iteration, path);
  for (int n = 1; path_exists(join_path(run.folder, name)); ++n)
    name = fmt::format("changed/{}.{}/{}", iteration, n, path);
  return name;
}

void mask_kept_file(const Run& run, record::ChangedFile& changed) {
  const std::string path = join_path(run.folder, changed.kept);
  const auto text = is_real_file(path) ? read_before_end(path, kMostRedacted, kMostRedacted) : Result<std::string>("");
  if (!text || text->size() >= kMostRedacted) return;
  const std::string masked = run.redactor.redact(*text);
  if (masked == *text) return;
  if (run.store.ends_with(kStoreEnd) && !run.store.starts_with(run.folder + "/")) {
    const std::string folder = run.store.substr(0, run.store.size() - kStoreEnd.size()) + std::string(kUnmaskedSuffix);
    const std::string exact = join_path(folder, changed.kept);
    if (make_directories(parent_path(exact)) && ::chmod(folder.c_str(), 0700) == 0 && replace_file(exact, *text, 0600))
      changed.exact = exact;
  }
  static_cast<void>(replace_file(path, masked, 0600));
}

Status report_files(Run& run, std::vector<record::ChangedFile> files) {
  if (files.empty()) return {};
  record::FilesChanged note;
  note.iteration = run.progress().iteration;
  note.after = StepKind::kAgent;
  if (files.size() > kMostListed) {
    note.more = static_cast<std::int64_t>(files.size() - kMostListed);
    files.resize(kMostListed);
  }
  note.files = std::move(files);
  note.feedback = watch_message(note);
  return run.note(std::move(note));
}

Status Watch::begin() {
  const std::string& manifest = run_.progress().watch.manifest;
  if (!manifest.empty()) {
    auto loaded = WatchedFiles::load(run_.project, run_.store, manifest);
    if (loaded) {
      files_ = *std::move(loaded);
      return {};
    }
    if (!run_.policy.protect.paths.empty()) return tl::unexpected(loaded.error());
  }
  if (run_.policy.protect.paths.empty() && run_.policy.check_commands.empty()) return {};
  TRY_VALUE(WatchedFiles taken,
            WatchedFiles::take(run_.project, run_.store, {run_.policy.protect.paths, run_.policy.check_commands}));
  if (taken.files().empty()) return {};
  files_ = std::move(taken);
  return run_.note(record::FilesWatched{static_cast<std::int64_t>(files_->files().size()),
                                        static_cast<std::int64_t>(files_->bytes()), files_->manifest()});
}

Status Watch::begin_session() {
  constexpr std::uint64_t kMostBytes = 64 << 20;
  run_.policy.protect.on_change = OnChange::kReport;
  if (!run_.progress().watch.manifest.empty()) {
    auto loaded = WatchedFiles::load(run_.project, run_.store, run_.progress().watch.manifest);
    if (!loaded) return tl::unexpected(loaded.error());
    files_ = *std::move(loaded);
    return {};
  }
  if (run_.policy.protect.paths.empty() && run_.policy.check_commands.empty()) return {};
  TRY_VALUE(WatchedFiles taken,
            WatchedFiles::take(run_.project, run_.store,
                               {run_.policy.protect.paths, run_.policy.check_commands, false, kMostBytes}));
  if (taken.files().empty()) return {};
  return run_.note(record::FilesWatched{static_cast<std::int64_t>(taken.files().size()), 0, taken.manifest()});
}

// Whether this exact change was reported before: it persists until somebody undoes it.
bool Watch::is_known(const WatchedFiles::Change& change) const {
  const WatchedFiles::File& file = files_->files()[change.file];
  const auto& known = file.is_protected && run_.policy.protect.on_change == OnChange::kFail ? held_ : reported_;
  const auto found = known.find(file.path);
  return found != known.end() && found->second == change.what + change.sha256;
}

record::ChangedFile Watch::handle(const WatchedFiles::Change& change) {
  const WatchedFiles::File file = files_->files()[change.file];
  record::ChangedFile changed;
  changed.path = file.path;
  changed.what = change.what;
  if (!file.named_by.empty()) changed.note = fmt::format("the check \"{}\" uses it", fit_to_width(file.named_by, 60));
  if (!file.is_protected || run_.policy.protect.on_change == OnChange::kReport) {
    reported_[file.path] = change.what + change.sha256;
    return changed;
  }
  if (run_.policy.protect.on_change == OnChange::kFail) {
    changed.action = WatchAction::kFailed;
    held_[file.path] = change.what + change.sha256;
    return changed;
  }
  const std::string name = free_name_for(run_, file.path);
  const std::string kept = join_path(run_.folder, name);
  if (const Status back = files_->put_back(change, kept); !back) {
    changed.action = WatchAction::kFailed;
    changed.note = fmt::format("it could not be put back: {}", back.error().message);
    return changed;
  }
  changed.action = WatchAction::kPutBack;
  if (!path_exists(kept)) return changed;
  changed.kept = name;
  mask_kept_file(run_, changed);
  return changed;
}

Result<std::vector<std::string>> Watch::look(StepKind after) {
  std::vector<std::string> restored;
  if (!files_) return restored;
  if (held_in_ != run_.progress().iteration) held_.clear();
  held_in_ = run_.progress().iteration;
  record::FilesChanged note;
  note.iteration = run_.progress().iteration;
  note.after = after;
  for (const WatchedFiles::Change& change : files_->changes()) {
    if (is_known(change)) continue;
    record::ChangedFile changed = handle(change);
    if (changed.action == WatchAction::kPutBack) restored.push_back(changed.path);
    if (note.files.size() < kMostListed) {
      note.files.push_back(std::move(changed));
    } else {
      ++note.more;
    }
  }
  if (note.files.empty()) return restored;
  note.feedback = watch_message(note);
  // Each hook of a session is a new process; the run's progress remembers what earlier hooks have reported.
  const bool only_reported = std::all_of(note.files.begin(), note.files.end(), [](const record::ChangedFile& file) {
    return file.action == WatchAction::kReported;
  });
  const Feedback feedback{FailAction::kAppend, note.feedback};
  if (only_reported && is_one_of(feedback, run_.progress().watch.feedback)) return restored;
  TRY(run_.note(std::move(note)));
  return restored;
}

}  // namespace ralph
