// Whole-file reads and atomic writes. All paths are plain strings; errors name the path.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ralph {

// Owns a file descriptor and closes it on destruction.
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
bool is_same_file(const std::string& a, const std::string& b);  // or folder: both exist and are the same

// These do not follow a symlink at `path`.
bool path_exists(const std::string& path);  // true for a dangling symlink
bool is_real_file(const std::string& path);
bool is_real_folder(const std::string& path);

std::vector<std::string> names_in(const std::string& folder);  // sorted, with "." and ".."; empty if it can't be read

// Up to 1 GB. Follows links. Never waits on anything that is not a file: only /dev/stdin and the like may be a pipe.
Result<std::string> read_file(const std::string& path);

// Up to `most` bytes of a plain file. No part of the path may be a symlink.
Result<std::string> read_without_links(const std::string& path, size_t most);

// Like read_file(), for a path in which others may have placed a link: if it passes through one of `folders`, which
// others can write to, it must also end inside one of them.
Result<std::string> read_within(const std::string& path, const std::vector<std::string>& folders);

// Opens the file in one call if no part of the path is a symlink. Returns no descriptor if there is a symlink, or if
// the system lacks the call.
Fd open_without_links(const std::string& path, int how);

// At most `most` bytes of the file, starting `before_end` bytes before its end.
Result<std::string> read_before_end(const std::string& path, size_t before_end, size_t most);

// Writes a temporary file next to `path`, fsyncs, renames and fsyncs the folder: readers see the old content or the
// new, never a mix. An existing file keeps its mode; a new one gets `mode`, less the umask. A symlink at `path` is
// replaced, not followed. A file that is itself a mount point is written in place: nothing can be renamed over it.
Status write_file_atomically(const std::string& path, std::string_view content, unsigned mode = 0644);

// The same without fsync: still atomic for readers, but after a power cut the file may have its old content or be
// empty. For data that is worthless by then and is written while somebody waits.
Status replace_file(const std::string& path, std::string_view content, unsigned mode = 0644);

// Removes the temporary files that killed writers of `path` left behind. Only for a path that no other process is
// writing now.
void remove_unfinished_writes(const std::string& path);

// Removes temporary files that killed writers left in `folder` more than an hour ago.
void remove_abandoned_writes(const std::string& folder);

// Creates the folder and its parents. An existing folder is not an error.
Status make_directories(const std::string& path);

// Opens the folder `name` below `top`, creating missing parts. A link on the way is an error: anybody who can write
// there could have placed it.
Result<Fd> open_folder_below(const std::string& top, const std::string& name);

// Writes all of `bytes`, with as many calls as necessary.
Status write_all(int fd, std::string_view bytes, std::string_view path_for_errors);

// Opens for appending: creates a missing file, sets close-on-exec, refuses symlinks and hard links.
Result<Fd> open_for_append(const std::string& path, unsigned mode = 0600);

std::string join_path(std::string_view folder, std::string_view name);
std::string parent_path(std::string_view path);
std::string base_name(std::string_view path);
Result<std::string> current_directory();
// Where the user will type the next command: the current folder before the first enter_directory(). Empty if it is
// gone.
std::string shell_directory();
bool enter_directory(const std::string& path);  // as the user asked for it; false: see errno
Result<std::string> path_of_this_program();     // fails if its file was removed or replaced
// Whether `path` is `folder` or inside it; no path is within an empty folder. Compares text only.
bool is_within(std::string_view path, std::string_view folder);
// "src/x.cc" for "/p/src/x.cc" in "/p"; empty if the path is not below the folder.
std::string path_below(std::string_view path, std::string_view folder);
// Absolute, without "." and ".."; symlinks are not resolved.
std::string absolute_path(std::string_view path, std::string_view base);
// Resolves symlinks as far as the path exists, including a symlink to a file that does not exist yet.
std::string real_path(const std::string& path);

}  // namespace ralph
