// The base prompt: text from the command line, or a file that is read again for every iteration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

class PromptSource {
 public:
  static PromptSource text(std::string prompt);
  static PromptSource file(std::string path);

  // Folders that an agent in a sandbox can write to: a link there that leads out of them is not followed, or it would
  // be told what it must not see.
  void stay_within(std::vector<std::string> folders) { folders_ = std::move(folders); }

  // Fails if the file can't be read, is blank, or is not UTF-8 (with the position).
  Result<std::string> read() const;
  std::string describe() const;  // "the command line" or the file's path

 private:
  std::string text_;
  std::string path_;
  std::vector<std::string> folders_;
};

}  // namespace ralph
