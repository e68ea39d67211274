// The base prompt: text from the command line, or a file that is read again for every iteration.
#pragma once

#include <string>

#include "base/result.h"

namespace ralph {

class PromptSource {
 public:
  static PromptSource text(std::string prompt);
  static PromptSource file(std::string path);

  // Fails if the file can't be read, is blank, or is not UTF-8 (with the position).
  Result<std::string> read() const;
  std::string describe() const;  // "the command line" or the file's path

 private:
  std::string text_;
  std::string path_;
};

}  // namespace ralph
