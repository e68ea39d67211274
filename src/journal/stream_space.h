// Bounds what a run keeps of its raw output (journal.maxStreamMb). The newest is kept: the streams of earlier turns go
// first, the oldest of them before the others, then the beginning of the file that grows.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "journal/raw_file.h"

namespace ralph {

class StreamSpace {
 public:
  // `limit` in bytes for all streams in `folder` together; 0: none. `known`: the most that those of earlier turns take,
  // if that is known. Only if not, and before anything is removed, they are listed, but for the `own` streams of this
  // turn.
  StreamSpace(std::string folder, std::int64_t limit, std::optional<std::int64_t> known = {},
              std::vector<std::string> own = {});

  // Appends to a stream of the current turn, and removes what is too much.
  Status append(RawFile& file, std::string_view bytes);

  std::int64_t dropped() const { return dropped_; }  // bytes that are not there any more
  std::int64_t total() const { return total_; }      // of all streams, at most

 private:
  struct Old {
    std::string path;
    std::int64_t size;
  };

  void list();

  std::string folder_;
  std::int64_t limit_;
  std::vector<std::string> own_;
  bool listed_ = false;
  std::deque<Old> old_;        // the oldest first
  std::int64_t own_size_ = 0;  // of this turn's streams
  std::int64_t total_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace ralph
