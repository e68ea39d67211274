// The hash of a journal's last synced record, in a file outside the project: a journal without that record has lost
// records. Written in place, because a new file for each sync would make the journal's next sync wait for the folder's
// blocks.
#pragma once

#include <string>
#include <string_view>

#include "os/files.h"

namespace ralph {

class Seal {
 public:
  explicit Seal(std::string path) : path_(std::move(path)) {}  // an empty path: no seal

  bool is_kept() const { return !path_.empty(); }
  // Best effort: the journal is written first, and one with records after its seal is still accepted. All hashes have
  // the same length, well below a disk block, so a killed process leaves either the old hash or the new one.
  void set(std::string_view hash);

 private:
  bool is_in_place() const;

  std::string path_;
  Fd file_;
};

}  // namespace ralph
