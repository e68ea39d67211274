#include "journal/writer.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "journal/raw_file.h"
#include "journal/reader.h"
#include "journal/secret_variables.h"

namespace ralph {
namespace {

// Words and names that ralph chose itself; whoever reads a journal depends on them. All other texts are redacted, so a
// field that is added later is safe until it is listed here.
constexpr std::string_view kStructural[] = {
    "runId",   "way",        "ralph",  "project", "purpose", "outcome", "promptFile", "stdoutFile", "stderrFile",
    "logFile", "failAction", "signal", "after",   "moment",  "rule",    "decision",   "status",
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
  void operator()(std::string_view, std::int64_t&) const {}
  void operator()(std::string_view, double&) const {}
  void operator()(std::string_view, json::value& value) const { redact_value(value, redactor, false); }
  void operator()(std::string_view key, std::vector<std::string>& values) const {
    for (std::string& value : values) (*this)(key, value);
  }
  void operator()(std::string_view key, std::optional<std::string>& value) const {
    if (value) (*this)(key, *value);
  }
};

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

Result<JournalWriter> JournalWriter::open(const std::string& run_folder, const Redactor& redactor,
                                          std::function<WallTime()> clock) {
  const std::string path = join_path(run_folder, kJournalFile);
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600));
  if (!fd) return cannot_write(path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return cannot_write(path, errno);
  if (!S_ISREG(info.st_mode)) return cannot_write(path, ENXIO);
  JournalWriter writer(std::move(fd), path, redactor, std::move(clock));
  if (info.st_size == 0) return writer;

  TRY_VALUE(JournalReader reader, JournalReader::open(path));
  for (;;) {
    TRY_VALUE(const std::optional<record::Record> record, reader.next());
    if (!record) break;
    writer.last_sequence_ = std::max(writer.last_sequence_, record->sequence);
  }
  writer.size_ = static_cast<std::int64_t>(info.st_size) - static_cast<std::int64_t>(reader.torn_tail());
  if (reader.torn_tail() > 0 && ::ftruncate(writer.fd_.get(), writer.size_) != 0) return cannot_write(path, errno);
  return writer;
}

Result<record::Record> JournalWriter::append(record::Body body) {
  redact(body, redactor_);
  record::Record record{last_sequence_ + 1, clock_(), std::move(body)};
  const std::string line = record::to_line(record) + "\n";
  ssize_t written = 0;
  do {
    written = ::write(fd_.get(), line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(line.size())) {
    // The system says why only when nothing at all could be written; a part of it means that there was no more room.
    const int error = written < 0 ? errno : ENOSPC;
    if (::ftruncate(fd_.get(), size_) != 0) return cannot_write(path_, errno);
    return cannot_write(path_, error);
  }
  size_ += static_cast<std::int64_t>(line.size());
  ++last_sequence_;
  return record;
}

Status JournalWriter::sync() {
  if (::fdatasync(fd_.get()) != 0) return cannot_write(path_, errno);
  if (std::exchange(folder_synced_, true)) return {};
  for (const std::string& folder : {parent_path(path_), parent_path(parent_path(path_))}) {
    const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Not every file system can sync a folder; the journal itself is safe then as far as it can be.
    if (fd && ::fsync(fd.get()) != 0 && errno != EINVAL) return cannot_write(folder, errno);
  }
  return {};
}

}  // namespace ralph
