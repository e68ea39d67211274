// Writes a run's journal. One record is one line is one write() call, so that a reader sees whole records, and a
// SIGKILL of ralph loses nothing that was appended. Specified in docs/formats/journal.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "journal/records.h"
#include "journal/redactor.h"
#include "os/files.h"

namespace ralph {

inline constexpr std::string_view kJournalFile = "journal.jsonl";

class JournalWriter {
 public:
  // Opens <run_folder>/journal.jsonl, made if missing. A journal that is there is continued: with the number after its
  // last record's, and without the torn line that a power cut may have left at its end.
  static Result<JournalWriter> open(const std::string& run_folder, const Redactor& redactor,
                                    std::function<WallTime()> clock);

  // Redacts, numbers, dates and writes; returns the record as it was written. If the record could not be written whole,
  // nothing of it stays, and the next one gets its number.
  Result<record::Record> append(record::Body body);

  // After it, what was appended survives a power cut too.
  Status sync();

  const std::string& path() const { return path_; }

 private:
  JournalWriter(Fd fd, std::string path, Redactor redactor, std::function<WallTime()> clock);

  Fd fd_;
  std::string path_;
  Redactor redactor_;
  std::function<WallTime()> clock_;
  std::int64_t last_sequence_ = 0;
  std::int64_t size_ = 0;       // of the whole records
  bool folder_synced_ = false;  // a file whose name is lost is lost
};

// Masks the secrets in every text of a record, except in fields that programs read, such as runId and file names. A
// string below a secret-looking name in the settings is masked whatever it is.
void redact(record::Body& body, const Redactor& redactor);

}  // namespace ralph
