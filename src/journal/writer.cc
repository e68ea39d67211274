#include "journal/writer.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "journal/raw_file.h"
#include "journal/reader.h"
#include "journal/secret_variables.h"
#include "os/file_hash.h"
#include "os/poll.h"

namespace ralph {
namespace {

// Fields with words and names chosen by ralph, on which readers of a journal depend. All other texts are redacted, so a
// new field is safe by default.
constexpr std::string_view kStructural[] = {
    "runId",      "ralph",   "project",    "folder", "promptFile", "stdoutFile",
    "stderrFile", "logFile", "failAction", "signal", "rule",
};

bool is_structural(std::string_view key) {
  return std::find(std::begin(kStructural), std::end(kStructural), key) != std::end(kStructural);
}

void redact_value(json::value& value, const Redactor& redactor, bool secret) {
  if (json::string* text = value.if_string()) {
    *text = secret ? std::string(text->size(), '*') : redactor.redact(*text);
  } else if (json::array* items = value.if_array()) {
    for (json::value& item : *items) redact_value(item, redactor, secret);
  } else if (json::object* members = value.if_object()) {
    for (auto& member : *members) redact_value(member.value(), redactor, secret || is_secret_name(member.key()));
  }
}

struct FieldRedactor {
  const Redactor& redactor;

  void operator()(std::string_view key, std::string& value) const {
    if (!is_structural(key)) value = redactor.redact(value);
  }
  void operator()(std::string_view, json::value& value) const { redact_value(value, redactor, false); }
  template <class T>
  void operator()(std::string_view key, std::vector<T>& values) const {
    for (T& value : values) (*this)(key, value);
  }
  template <class T>
  void operator()(std::string_view key, std::optional<T>& value) const {
    if (value) (*this)(key, *value);
  }
  template <class T>
  void operator()(std::string_view key, std::map<std::string, T>& members) const {
    for (auto& member : members) (*this)(key, member.second);
  }
  template <Listed T>
  void operator()(std::string_view, T& value) const {
    value.fields(*this);
  }
  template <class T>
    requires std::is_arithmetic_v<T> || Worded<T>
  void operator()(std::string_view, T&) const {}
};

// The last bytes of a file, at most `most`.
std::string tail_of(int fd, off_t size, off_t most) {
  const off_t from = std::max<off_t>(size - most, 0);
  std::string text(static_cast<size_t>(size - from), '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), from);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

// ctime can't be set back.
bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

MonotonicTime steady_now() {
  return std::chrono::time_point_cast<Milliseconds>(std::chrono::steady_clock::now());
}

// How long unchanged file times alone are trusted: two writes within one tick of the system's clock have the same time.
constexpr Milliseconds kBelieved{1000};

constexpr int kOpenFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

}  // namespace

void redact(record::Body& body, const Redactor& redactor) {
  std::visit(
      [&](auto& b) {
        if constexpr (requires { b.fields_as_written; }) {
          for (auto& [key, value] : b.fields_as_written) redact_value(value, redactor, is_secret_name(key));
        } else {
          b.fields(FieldRedactor{redactor});
        }
      },
      body);
}

JournalWriter::JournalWriter(Fd fd, std::string path, Redactor redactor, std::function<WallTime()> clock)
    : fd_(std::move(fd)), path_(std::move(path)), redactor_(std::move(redactor)), clock_(std::move(clock)) {}

Result<JournalWriter> JournalWriter::lock(const std::string& run_folder, const Redactor& redactor,
                                          std::function<WallTime()> clock, Milliseconds patience) {
  const std::string path = join_path(run_folder, kJournalFile);
  Fd fd(::open(path.c_str(), kOpenFlags, 0600));
  if (!fd) return cannot_write(path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot_write(path, errno);
  if (!S_ISREG(info.st_mode)) return cannot_write(path, ENXIO);
  if (info.st_nlink > 1) return cannot_write(path, EMLINK);
  constexpr Milliseconds kStep{2};
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (patience <= Milliseconds(0))
      return fail(ErrorKind::kBusy, "another process is writing {}; wait for it to end", path);
    sleep_for(kStep);
    patience -= kStep;
  }
  // Includes what another writer appended while we waited.
  if (::fstat(fd.get(), &info) != 0) return cannot_write(path, errno);
  JournalWriter writer(std::move(fd), path, redactor, std::move(clock));
  writer.size_ = static_cast<std::int64_t>(info.st_size);
  return writer;
}

Result<JournalWriter> JournalWriter::open(const std::string& run_folder, const Redactor& redactor,
                                          std::function<WallTime()> clock, const OnRecord& on_record,
                                          Milliseconds patience) {
  TRY_VALUE(JournalWriter writer, lock(run_folder, redactor, std::move(clock), patience));
  if (writer.size_ == 0) return writer;
  TRY_VALUE(JournalReader reader, JournalReader::open(writer.path_));
  TRY(writer.read_all(std::move(reader), on_record));
  return writer;
}

Result<JournalWriter> JournalWriter::open_at_tail(const std::string& run_folder, const Redactor& redactor,
                                                  std::function<WallTime()> clock, const OnRecord& on_record,
                                                  Milliseconds patience) {
  TRY_VALUE(JournalWriter writer, lock(run_folder, redactor, std::move(clock), patience));
  if (writer.size_ == 0) return writer;
  TRY_VALUE(JournalReader reader, JournalReader::open_at_tail(writer.path_));
  TRY(writer.read_all(std::move(reader), on_record));
  return writer;
}

Status JournalWriter::read_all(JournalReader reader, const OnRecord& on_record) {
  for (;;) {
    TRY_VALUE(const std::optional<record::Record> record, reader.next());
    if (!record) break;
    last_sequence_ = std::max(last_sequence_, record->sequence);
    if (on_record) on_record(*record);
  }
  last_hash_ = reader.last_hash();
  if (!reader.is_whole()) found_ = reader.problems();
  size_ -= static_cast<std::int64_t>(reader.torn_tail());
  if (reader.torn_tail() > 0 && ::ftruncate(fd_.get(), size_) != 0) return cannot_write(path_, errno);
  return {};
}

record::Record JournalWriter::stamp(record::Body body) const {
  redact(body, redactor_);
  return {last_sequence_ + 1, clock_(), std::move(body), last_hash_};
}

// Restores the journal if an agent removed .ralph: the open file still has its content.
Status JournalWriter::restore_if_gone(struct stat& ours) {
  struct stat there{};
  if (::lstat(path_.c_str(), &there) == 0) {
    if (there.st_ino == ours.st_ino && there.st_dev == ours.st_dev) return {};
  } else if (errno != ENOENT && errno != ENOTDIR) {
    return {};  // a folder above became inaccessible; the open file is still good
  }
  const std::string text = tail_of(fd_.get(), size_, size_);
  // <project>/.ralph/runs/<id>: symlinks are not followed, and the project folder itself is not created.
  std::string folder = parent_path(path_);
  for (int above = 0; above < 3; ++above, folder = parent_path(folder)) {
    if (path_exists(folder) && !is_real_folder(folder)) return cannot_write(folder, ENOTDIR);
  }
  if (!is_directory(folder)) return cannot_write(path_, ENOENT);
  TRY(make_directories(parent_path(path_)));
  TRY(replace_file(path_, text, 0600));
  Fd fd(::open(path_.c_str(), kOpenFlags & ~O_CREAT));
  if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return cannot_write(path_, errno);
  fd_ = std::move(fd);
  folder_synced_ = false;
  if (::fstat(fd_.get(), &ours) != 0) return cannot_write(path_, errno);
  return {};
}

// A file that is not as we left it proves nothing any more: a new record would not follow from the existing ones.
Status JournalWriter::check_size(const struct stat& ours) const {
  if (ours.st_size == size_) return {};
  return fail(
      ErrorKind::kInput,
      "somebody {} the journal {} while the run was under way, so that it can't prove what the run did; start a "
      "new run",
      ours.st_size < size_ ? "shortened" : "added to", path_);
}

bool JournalWriter::is_as_we_left_it() const {
  struct stat there{};
  return !touched_ && ::lstat(path_.c_str(), &there) == 0 && is_same(there, left_);
}

std::string JournalWriter::fault() {
  if (content_ && steady_now() - read_at_ < kBelieved && is_as_we_left_it()) return "";
  struct stat before{};
  if (::lstat(path_.c_str(), &before) != 0) before = {};
  const auto found = hash_file(path_);
  if (!content_ || !found || found->hex() != content_->hex()) {
    if (std::string fault = fault_in_records(); !fault.empty()) return fault;
    content_ = found;
  }
  left_ = before;
  touched_ = false;
  read_at_ = steady_now();
  return "";
}

std::string JournalWriter::fault_in_records() const {
  auto reader = JournalReader::open(path_);
  if (!reader) return reader.error().message;
  for (;;) {
    const auto record = reader->next();
    if (!record) return record.error().message;
    if (!*record) break;
  }
  if (const std::vector<std::string> problems = reader->problems(); !problems.empty()) return problems.front();
  return reader->last_hash() == last_hash_ ? "" : "its last record is a different one";
}

Status JournalWriter::write(const record::Record& record) {
  struct stat ours{};
  if (::fstat(fd_.get(), &ours) != 0) return cannot_write(path_, errno);
  touched_ = touched_ || !is_same(ours, left_);
  TRY(restore_if_gone(ours));
  TRY(check_size(ours));
  std::string line = record::to_line(record);
  if (line.size() > JournalReader::kLongestLine) {
    return fail(ErrorKind::kInput, "a record of {} is too long for the journal {}, whose lines have at most {}",
                human_bytes(line.size()), path_, human_bytes(JournalReader::kLongestLine));
  }
  std::string hash = sha256_hex(line);
  line += '\n';
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(line.size())) {
    // A partial write has no errno, so write the rest to learn the reason (a full disk, or `ulimit -f`).
    ssize_t rest = written;
    if (written >= 0) rest = ::write(fd_.get(), line.data() + written, line.size() - static_cast<size_t>(written));
    const int error = rest < 0 ? errno : ENOSPC;
    if (::ftruncate(fd_.get(), size_) != 0) return cannot_write(path_, errno);
    return cannot_write(path_, error);
  }
  if (::fstat(fd_.get(), &left_) != 0) left_ = {};
  size_ += static_cast<std::int64_t>(line.size());
  if (content_) content_->add(line);
  last_sequence_ = record.sequence;
  last_hash_ = std::move(hash);
  return {};
}

Result<record::Record> JournalWriter::append(record::Body body) {
  record::Record record = stamp(std::move(body));
  TRY(write(record));
  return record;
}

Status JournalWriter::sync() {
  if (::fdatasync(fd_.get()) != 0) return cannot_write(path_, errno);
  if (std::exchange(folder_synced_, true)) return {};
  for (const std::string& folder : {parent_path(path_), parent_path(parent_path(path_))}) {
    const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Not every file system can sync a folder; then the journal is as safe as it can be.
    if (fd && ::fsync(fd.get()) != 0 && errno != EINVAL) return cannot_write(folder, errno);
  }
  return {};
}

}  // namespace ralph
