// Writes a run's journal. One record is one line is one write() call, so that a reader sees whole records, and a
// SIGKILL of ralph loses nothing that was appended. Specified in docs/formats/journal.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "journal/reader.h"
#include "journal/records.h"
#include "journal/redactor.h"
#include "os/files.h"

namespace ralph {

inline constexpr std::string_view kJournalFile = "journal.jsonl";

class JournalWriter {
 public:
  using OnRecord = std::function<void(const record::Record&)>;

  // Opens <run_folder>/journal.jsonl, made if missing. A journal that is there is continued: `on_record` gets its
  // records, and the torn line that a power cut may have left at its end is removed. A journal has one writer at a
  // time: fails with kBusy if another process still writes it after `patience`.
  static Result<JournalWriter> open(const std::string& run_folder, const Redactor& redactor,
                                    std::function<WallTime()> clock, const OnRecord& on_record = {},
                                    Milliseconds patience = Milliseconds(0));

  // The same for a journal whose last record carries the progress of all (of a session's run): only its tail is read,
  // and `on_record` gets that one record. A journal whose last record does not is read whole.
  static Result<JournalWriter> open_at_tail(const std::string& run_folder, const Redactor& redactor,
                                            std::function<WallTime()> clock, const OnRecord& on_record,
                                            Milliseconds patience);

  // The record as it will be written: redacted, numbered, dated, linked to the line before.
  record::Record stamp(record::Body body) const;

  // Writes what stamp() returned last. If it could not be written whole, nothing of it stays, and the next one gets its
  // number. A journal that vanished meanwhile is written again first, from the open descriptor.
  Status write(const record::Record& record);

  Result<record::Record> append(record::Body body);  // both

  // After it, what was appended survives a power cut too.
  Status sync();

  const std::string& path() const { return path_; }
  const std::string& last_hash() const { return last_hash_; }  // of the last line; empty: there is none

 private:
  JournalWriter(Fd fd, std::string path, Redactor redactor, std::function<WallTime()> clock);
  static Result<JournalWriter> lock(const std::string& run_folder, const Redactor& redactor,
                                    std::function<WallTime()> clock, Milliseconds patience);
  Status read_all(JournalReader reader, const OnRecord& on_record);
  Status restore_if_gone();

  Fd fd_;
  std::string path_;
  Redactor redactor_;
  std::function<WallTime()> clock_;
  std::int64_t last_sequence_ = 0;
  std::string last_hash_;
  std::int64_t size_ = 0;       // of the whole records
  bool folder_synced_ = false;  // a file whose name is lost is lost
};

// Masks the secrets in every text of a record, except in fields that programs read, such as runId and file names. A
// string below a secret-looking name in the settings is masked whatever it is.
void redact(record::Body& body, const Redactor& redactor);

}  // namespace ralph
