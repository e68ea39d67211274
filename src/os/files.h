// Files: read whole, written so that nobody ever sees half of one. All paths are plain strings; errors name the path.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace ralph {

// A file descriptor that is closed when its owner goes.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

bool file_exists(const std::string& path);
bool is_directory(const std::string& path);
bool is_regular_file(const std::string& path);
bool is_executable_file(const std::string& path);

// Of the name itself, not of what a link leads to.
bool is_there(const std::string& path);  // also a link to nothing
bool is_real_file(const std::string& path);
bool is_real_folder(const std::string& path);

Result<std::string> read_file(const std::string& path);

// Temp file beside it, fsync, rename, fsync of the folder: the old content or the new, never something between.
// The file keeps its mode; a new one gets `mode`. A symlink at `path` is replaced, not followed.
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);

// The same without waiting for the disk: nobody sees half of a file, but after a power cut it may be the old one, or
// empty. For what is worth nothing then, and is written while somebody waits.
Status replace_file(const std::string& path, std::string_view content, unsigned mode = 0644);

// Makes the folder and its parents. It is no error if it is there.
Status make_directories(const std::string& path);

// Writes all of `bytes`, however many calls that takes.
Status write_all(int fd, std::string_view bytes, std::string_view path_for_errors);

// Opens for appending, made if missing, closed on exec, never through a symlink.
Result<Fd> open_for_append(const std::string& path, unsigned mode = 0600);

std::string join_path(std::string_view folder, std::string_view name);
std::string parent_path(std::string_view path);
std::string base_name(std::string_view path);
Result<std::string> current_directory();
// Absolute, without "." and ".."; symlinks are left as they are.
std::string absolute_path(std::string_view path, std::string_view base);
// Follows symlinks as far as the path exists, also one to a file that is not there yet.
std::string real_path(const std::string& path);

}  // namespace ralph
