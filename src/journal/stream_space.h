// Bounds what a run keeps of its raw output (journal.maxStreamMb). The newest is kept: the streams of earlier turns go
// first, the oldest of them before the others, then the beginning of the file that grows.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "journal/raw_file.h"

namespace ralph {

class StreamSpace {
 public:
  // `limit` in bytes for all streams in `folder` together; 0: none.
  StreamSpace(const std::string& folder, std::int64_t limit);

  // Appends to a stream of the current turn, and removes what is too much.
  Status append(RawFile& file, std::string_view bytes);

  std::int64_t dropped() const { return dropped_; }  // bytes that are not there any more

 private:
  struct Old {
    std::string path;
    std::int64_t size;
  };

  std::int64_t limit_;
  std::deque<Old> old_;     // the oldest first
  std::int64_t total_ = 0;  // of all streams
  std::int64_t dropped_ = 0;
};

}  // namespace ralph
