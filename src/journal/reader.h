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

  // The next good record; nothing at the present end. More may be there at a later call, so that a live run can be
  // followed.
  Result<std::optional<record::Record>> next();

  // Bytes after the last line end, as of the last next(): a record that was not finished.
  size_t torn_tail() const { return unfinished_; }

  size_t bad_lines() const { return bad_count_; }
  const std::vector<BadLine>& first_bad_lines() const { return bad_; }  // at most ten of them

  // "line 3 is damaged (…)", "the last 17 bytes are an unfinished record"; empty if all is well.
  std::vector<std::string> problems() const;

 private:
  JournalReader(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<bool> read_more();
  void note_bad_line(std::string reason);

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
};

}  // namespace ralph
