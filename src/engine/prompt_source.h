// The base prompt: text from the command line, or a file that is reread for every iteration.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

class PromptSource {
 public:
  static PromptSource text(std::string prompt, std::string origin = "the command line");
  static PromptSource file(std::string path);

  // Sets the folders that a sandboxed agent can write to. A symlink that leads out of them is not followed, because it
  // could show the agent a file that the sandbox hides.
  void stay_within(std::vector<std::string> folders) { folders_ = std::move(folders); }

  // Fails if the file can't be read, is blank, or is not UTF-8 (with the position).
  Result<std::string> read() const;
  std::string describe() const;  // "the command line", "standard input" or the file's path

 private:
  std::string text_, origin_;
  std::string path_;
  std::vector<std::string> folders_;
};

}  // namespace ralph
