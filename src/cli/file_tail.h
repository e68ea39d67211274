// Prints a file as it grows.
#pragma once

#include <fcntl.h>
#include <string>
#include <unistd.h>

#include "os/files.h"

namespace ralph::cli {

class FileTail {
 public:
  FileTail(std::string path, int to) : path_(std::move(path)), to_(to) {}

  // Copies what is new. Does nothing if the file does not exist yet. Symlinks are not followed.
  Status print_new() {
    if (!file_) file_ = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    char bytes[64 * 1024];
    for (ssize_t n = 0; file_ && (n = ::read(file_.get(), bytes, sizeof bytes)) > 0;)
      TRY(write_all(to_, std::string_view(bytes, static_cast<size_t>(n)), "the output"));
    return {};
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int to_;
  Fd file_;
};

}  // namespace ralph::cli
