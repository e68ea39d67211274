// Writes a run's journal. Each record is one line and one write() call, so readers see whole records, and killing ralph
// loses nothing that was appended. Specified in docs/formats/journal.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>

#include "base/result.h"
#include "base/sha256.h"
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

  // Opens or creates <run_folder>/journal.jsonl. An existing journal is continued: `on_record` receives its records,
  // and a torn last line, as left by a power cut, is removed. A journal has one writer at a time: fails with kBusy if
  // another process is still writing it after `patience`.
  static Result<JournalWriter> open(const std::string& run_folder, const Redactor& redactor,
                                    std::function<WallTime()> clock, const OnRecord& on_record = {},
                                    Milliseconds patience = Milliseconds(0));

  // The same for a session's journal: if its last record carries the whole progress, reads only the tail, and
  // `on_record` receives that one record. Otherwise the journal is read completely.
  static Result<JournalWriter> open_at_tail(const std::string& run_folder, const Redactor& redactor,
                                            std::function<WallTime()> clock, const OnRecord& on_record,
                                            Milliseconds patience);

  // The record as it will be written: redacted, numbered, dated, linked to the previous line.
  record::Record stamp(record::Body body) const;

  // Writes the last result of stamp(). After a failure nothing of the record remains, and the next one gets its number.
  // If the journal was deleted in the meantime, it is first restored from the open descriptor. Fails if somebody else
  // has added to it or shortened it.
  Status write(const record::Record& record);

  // How somebody has tampered with the written records, in words; empty: not at all. Rereads the whole file if its
  // timestamps suggest another writer, or if the last read is more than a second old. Parses the records only the first
  // time, or if the content is not what was written.
  std::string fault();

  Result<record::Record> append(record::Body body);  // stamp() and write()

  // Makes the appended records survive a power cut.
  Status sync();

  // What was wrong with the journal when it was opened, in words, except for a torn last line.
  const std::vector<std::string>& found() const { return found_; }

  const std::string& path() const { return path_; }
  const std::string& last_hash() const { return last_hash_; }  // of the last line; empty: no line yet

 private:
  JournalWriter(Fd fd, std::string path, Redactor redactor, std::function<WallTime()> clock);
  static Result<JournalWriter> lock(const std::string& run_folder, const Redactor& redactor,
                                    std::function<WallTime()> clock, Milliseconds patience);
  Status read_all(JournalReader reader, const OnRecord& on_record);
  Status restore_if_gone(struct stat& ours);
  Status check_size(const struct stat& ours) const;
  bool is_as_we_left_it() const;
  std::string fault_in_records() const;

  Fd fd_;
  std::string path_;
  Redactor redactor_;
  std::function<WallTime()> clock_;
  std::int64_t last_sequence_ = 0;
  std::string last_hash_;
  std::vector<std::string> found_;
  std::int64_t size_ = 0;            // of the whole records
  std::optional<Sha256> content_{};  // their hash, once fault() has been called
  struct stat left_{};               // the file after our last write
  bool touched_ = false;             // somebody else wrote to it before one of our writes
  MonotonicTime read_at_{};          // when all of it was last read
  bool folder_synced_ = false;       // without it, a power cut may lose the file's name
};

// Masks the secrets in every text of a record, except in fields that programs depend on, such as runId and file names.
// A setting with a secret-looking name is always masked.
void redact(record::Body& body, const Redactor& redactor);

}  // namespace ralph
