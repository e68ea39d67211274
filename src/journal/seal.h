// The hash of a journal's last synced record, in a file outside the project: a journal that does not lead to it has
// lost records. Written in place: a new file for each sync would make the journal's next sync wait for the folder's
// blocks.
#pragma once

#include <string>
#include <string_view>

#include "os/files.h"

namespace ralph {

class Seal {
 public:
  explicit Seal(std::string path) : path_(std::move(path)) {}  // an empty path: none

  // Best effort: the journal comes first, and one with more records than its seal says is believed. All hashes have the
  // same length, well below a disk's block: a killed process leaves the old one or the new one.
  void set(std::string_view hash);

 private:
  bool is_in_place() const;

  std::string path_;
  Fd file_;
};

}  // namespace ralph
