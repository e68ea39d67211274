// Reads a journal in any state. Agents can write to it and power cuts happen, so bad lines are counted and skipped, an
// unfinished last line is reported, and every good record is returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/records.h"
#include "os/files.h"

namespace ralph {

// Reads line by line; memory use is that of the longest line.
class JournalReader {
 public:
  static constexpr size_t kLongestLine = 64 << 20;  // longer lines are bad; prompts are far shorter

  struct BadLine {
    size_t line = 0;  // from 1
    std::string reason;
  };

  // Refuses symlinks and anything else that is not a regular file.
  static Result<JournalReader> open(const std::string& path);

  // Opens a session's journal at its last record, if that carries the whole progress. Otherwise the journal is read
  // from its beginning.
  static Result<JournalReader> open_at_tail(const std::string& path);

  // The next good record; nullopt at the current end. A later call may find more, so a live run can be followed.
  Result<std::optional<record::Record>> next();

  // The bytes after the last line end, as of the last next(): an unfinished record.
  size_t torn_tail() const { return unfinished_; }

  // The SHA-256 of the last whole line, good or bad; empty before the first.
  const std::string& last_hash() const { return hash_; }

  // Whether every line so far was good and followed from the line before.
  bool is_whole() const { return bad_count_ == 0 && breaks_.empty(); }

  size_t bad_lines() const { return bad_count_; }

  // "line 3 is damaged: …", "line 7 does not follow from the line before it: records 4 to 6 are missing", "the last 17
  // bytes are a record that was not finished"; empty if all is well.
  std::vector<std::string> problems() const;

 private:
  JournalReader(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<bool> read_more();
  void note_bad_line(std::string reason);
  void check_link(const record::Record& record);

  Fd fd_;
  std::string path_;
  std::string buffer_;       // from `at_` on: not yet returned
  size_t block_ = 64 << 10;  // bytes to read at a time
  size_t at_ = 0;
  size_t searched_ = 0;  // no newline before this
  size_t unfinished_ = 0;
  bool too_long_ = false;     // the current line is being skipped
  size_t line_ = 0;           // lines returned or skipped
  std::vector<BadLine> bad_;  // at most ten
  size_t bad_count_ = 0;
  std::string hash_;
  bool after_damage_ = false;    // the previous line was bad, so the broken chain is already reported
  std::vector<BadLine> breaks_;  // lines that do not follow from the previous one, at most ten
  std::int64_t last_sequence_ = 0;
};

}  // namespace ralph
