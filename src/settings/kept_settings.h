// A project's settings files as they are when a run begins, to be put back if an agent removes them (git clean -fdx, rm
// -rf .ralph): a run could not be resumed without them. What an agent changes is not put back: see settings/trust.h.
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

  // Those that are gone now, from the project's folder. Its `.ralph` must be there.
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
