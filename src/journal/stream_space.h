// Bounds the raw output that a run keeps (journal.maxStreamMb). The newest output is kept: the streams of earlier turns
// are removed first, oldest first, then the beginning of the growing file is dropped.
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
  // `limit`: in bytes for all streams in `folder` together; 0: no limit. `known`: an upper bound for the streams of
  // earlier turns, if known. The folder is listed only if it is unknown, or before anything is removed. `own`: the
  // names of this turn's streams, which are never removed.
  StreamSpace(std::string folder, std::int64_t limit, std::optional<std::int64_t> known = {},
              std::vector<std::string> own = {});

  // Appends to a stream of the current turn, and removes the excess.
  Status append(RawFile& file, std::string_view bytes);

  std::int64_t dropped() const { return dropped_; }  // bytes removed
  std::int64_t total() const { return total_; }      // upper bound for all streams

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
  std::deque<Old> old_;        // oldest first
  std::int64_t own_size_ = 0;  // of this turn's streams
  std::int64_t total_ = 0;
  std::int64_t dropped_ = 0;
};

}  // namespace ralph
