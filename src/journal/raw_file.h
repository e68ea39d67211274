// A raw file next to the journal: an agent's stream, a log, a prompt. Appended bytes must already be redacted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/files.h"

namespace ralph {

class RawFile {
 public:
  // Creates a file that only its owner can read. Agents can write to this folder, so an existing file or link at that
  // path is removed first, never followed or overwritten.
  static Result<RawFile> create(const std::string& path);

  // Opens the file for appending, or creates it. Refuses symlinks, hard links and anything else that is not a regular
  // file.
  static Result<RawFile> append_to(const std::string& path);

  // Writes unbuffered, so that a crash loses nothing. Errors name the file and a remedy.
  Status append(std::string_view bytes);

  // Replaces the file with its last `bytes` bytes, starting at the beginning of a line if possible. Returns the number
  // of bytes dropped.
  Result<std::int64_t> keep_end(size_t bytes);

  // Gives the file a second name, `path`, and replaces any file or link there in one step: a reader finds the old one
  // or the new. A hard link, because unlike a symlink it needs no inode. kAny: a relative symlink where a hard link is
  // impossible.
  enum class Link { kHard, kAny };
  Status link_at(const std::string& path, Link kind = Link::kHard) const;

  // Whether the file holds exactly these bytes: an agent can write to it.
  bool holds(std::string_view bytes) const;

  const std::string& path() const { return path_; }

 private:
  RawFile(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Fd fd_;
  std::string path_;
};

// "cannot write PATH: REASON", with advice if there is any: free disk space, change permissions.
tl::unexpected<Error> cannot_write(std::string_view path, int error);

}  // namespace ralph
