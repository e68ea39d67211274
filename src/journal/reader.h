// Reads a journal, whatever state it is in. Journals lie where agents can write and where power cuts happen, so a bad
// line is counted and passed over, and an unfinished last line is said to be one; what is good is always returned.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/records.h"
#include "os/files.h"

namespace ralph {

// Line by line, in the memory of the longest line.
class JournalReader {
 public:
  static constexpr size_t kLongestLine = 64 << 20;  // a longer one is bad; prompts are far shorter

  struct BadLine {
    size_t line = 0;  // from 1
    std::string reason;
  };

  // Never through a symlink, and plain files only.
  static Result<JournalReader> open(const std::string& path);

  // The same for a journal whose last record carries the progress of all (of a session's run): begins with that one. A
  // journal whose last record does not is read from its beginning.
  static Result<JournalReader> open_at_tail(const std::string& path);

  // The next good record; nothing at the present end. More may be there at a later call, so that a live run can be
  // followed.
  Result<std::optional<record::Record>> next();

  // Bytes after the last line end, as of the last next(): a record that was not finished.
  size_t torn_tail() const { return unfinished_; }

  // The SHA-256 of the last whole line, good or bad; empty before the first.
  const std::string& last_hash() const { return hash_; }

  // Every line so far was good and followed from the one before.
  bool is_whole() const { return bad_count_ == 0 && breaks_.empty(); }

  size_t bad_lines() const { return bad_count_; }
  const std::vector<BadLine>& first_bad_lines() const { return bad_; }  // at most ten of them

  // "line 3 is damaged (…)", "line 7 does not follow from the line before it", "the last 17 bytes are an unfinished
  // record"; empty if all is well.
  std::vector<std::string> problems() const;

 private:
  JournalReader(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<bool> read_more();
  void note_bad_line(std::string reason);
  void check_link(const record::Record& record);

  Fd fd_;
  std::string path_;
  std::string buffer_;  // read and not yet returned: from `at_` on
  size_t at_ = 0;
  size_t searched_ = 0;  // no line end stands before this
  size_t unfinished_ = 0;
  bool too_long_ = false;  // the line under way is dropped as it comes
  size_t line_ = 0;        // lines returned or passed over
  std::vector<BadLine> bad_;
  size_t bad_count_ = 0;
  std::string hash_;
  bool after_damage_ = false;   // the line before was bad: that the chain is broken there is said already
  std::vector<size_t> breaks_;  // lines that do not follow from the one before, at most ten
};

}  // namespace ralph
