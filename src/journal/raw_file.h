// A file of bytes beside the journal: an agent's stream, a log, a prompt. What is appended must be redacted already.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

class RawFile {
 public:
  // A new file, for its owner alone. Whatever had the name is removed first, never followed or overwritten: agents can
  // write where these files lie.
  static Result<RawFile> create(const std::string& path);

  // The same file, made if missing, to be continued. A symlink or anything else that is no plain file is refused.
  static Result<RawFile> append_to(const std::string& path);

  // Straight to the file: nothing is buffered that a crash could lose. Errors name the file and what to do.
  Status append(std::string_view bytes);

  const std::string& path() const { return path_; }

 private:
  RawFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Fd fd_;
  std::string path_;
};

// "cannot write PATH: REASON", with advice where there is some: free disk space, change permissions.
tl::unexpected<Error> cannot_write(std::string_view path, int error);

}  // namespace ralph
