// One end's copy of the folder that an annex keeps in two places: which files have changed here since the other end
// was told, and the changes of the other end, made here. Only plain files are carried.
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
  // `is_told(path)`: whether this end tells of the file; a folder is asked about with a "/" at its end.
  using Rule = std::function<bool(std::string_view path)>;
  AnnexFolder(std::string top, Rule is_told) : top_(std::move(top)), is_told_(std::move(is_told)) {}

  // What is new since the last call: files that were written, and those that are gone. Larger ones than a frame are
  // left out, and so are all behind the first thousands.
  std::vector<AnnexFrame> changes();

  // Writes, appends to or removes a file, as the other end has it. A path that leads out of the folder, by ".." or by
  // a link, is an error.
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
  Rule is_told_;
  std::map<std::string, Stamp> told_;
};

}  // namespace ralph
