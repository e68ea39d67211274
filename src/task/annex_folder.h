// One end's copy of the folder that an annex keeps in two places. Finds local changes that the other end does not have
// yet, and applies the changes of the other end. Only plain files are synchronized.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "task/annex_channel.h"

namespace ralph {

class AnnexFolder {
 public:
  // `is_shared(path)`: whether this end sends the file. The path of a folder ends with "/".
  using Rule = std::function<bool(std::string_view path)>;
  AnnexFolder(std::string top, Rule is_shared) : top_(std::move(top)), is_shared_(std::move(is_shared)) {}

  // The changes since the last call: files that were written or removed. Skips files that are too large for a frame,
  // and all beyond the first 20,000.
  std::vector<AnnexFrame> changes();

  // Applies a change of the other end: writes, appends to or removes a file. Fails if the path leads out of the folder,
  // by ".." or through a link.
  Status apply(const AnnexFrame& frame);

  const std::string& top() const { return top_; }

 private:
  struct Stamp {
    long long seconds, nanoseconds, size, node;
    unsigned mode;
    bool operator==(const Stamp&) const = default;
  };
  std::map<std::string, Stamp> look() const;
  void remember(const std::string& path);

  std::string top_;
  Rule is_shared_;
  std::map<std::string, Stamp> sent_;  // as the other end knows the files
};

}  // namespace ralph
