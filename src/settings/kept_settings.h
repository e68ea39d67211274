// Copies of a project's settings files from the start of a run, to restore them if an agent removes them (git clean
// -fdx, rm -rf .ralph), because a run can't be resumed without them. Changes by an agent are not reverted: see
// settings/trust.h.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace ralph {

class KeptSettings {
 public:
  KeptSettings() = default;  // none
  explicit KeptSettings(const std::string& project);

  // Restores the files that are missing now, and returns their names. The project's `.ralph` must exist.
  Result<std::vector<std::string>> put_back_missing() const;

 private:
  struct File {
    std::string name, text;
    mode_t mode = 0;
  };
  std::string project_;
  std::vector<File> files_;
};

}  // namespace ralph
