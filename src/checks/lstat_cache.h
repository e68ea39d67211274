// Examines many paths with few calls of lstat: a cache queries each path once, and a memo of a scan tells whether the
// next scan would find the same.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace ralph {

// A cache of lstat results for checking many paths: each is queried at most once, and nothing below a missing folder is
// queried at all.
class LstatCache {
 public:
  // `folders` are known to exist.
  explicit LstatCache(const std::vector<std::string>& folders = {});

  // What is at the path, without following a symlink there; nullptr if nothing is.
  const struct stat* at(const std::string& path);
  bool is_folder(const std::string& path) { return is(path, S_IFDIR); }
  bool is_link(const std::string& path) { return is(path, S_IFLNK); }

  // The names in a folder, as names_in() has them.
  std::vector<std::string> list(const std::string& folder);

  // Everything that was asked for so far. nullopt: nothing is there.
  using Seen = std::unordered_map<std::string, std::optional<struct stat>>;
  const Seen& seen() const { return seen_; }
  const struct stat* seen_at(const std::string& path) const;
  bool is_known_to_be_missing(const std::string& path) const;
  const std::vector<std::string>& listed() const { return listed_; }

 private:
  bool is(const std::string& path, unsigned type);
  bool can_have_more(const std::string& folder);

  Seen seen_;
  std::vector<std::string> listed_;
  std::unordered_map<std::string, bool> folders_;  // whether something may be below
};

// Remembers the file states that a comparison without findings was based on. While they hold, another comparison would
// find nothing either, and one lstat per existing file shows that they hold.
//
// A missing file needs no lstat of its own: creating it changes the ctime of the folder that it is missing from. Two
// changes within one tick of the file system's clock leave the same ctime, though, so a folder vouches for its content
// only once it has been examined a whole tick after its ctime was first seen.
class ScanMemo {
 public:
  // Keeps what `lstats` saw. `began` is a time before its first lstat.
  void remember(const LstatCache& lstats, MonotonicTime began);

  void forget() { *this = ScanMemo(); }

  // Whether nothing that was remembered has changed. False if nothing was.
  bool still_holds(MonotonicTime now);

 private:
  struct Seen {
    std::string path;
    struct stat info;
    bool whole = true;     // its times count too; false for a folder that is only passed through
    struct stat target{};  // of a symlink
  };
  struct Folder {
    struct stat info;
    MonotonicTime since{};               // when this state was first seen
    bool sure = false;                   // its ctime now vouches for its content
    bool listed = false;                 // its names were read
    std::vector<std::string> missing{};  // paths in it that do not exist
  };

  bool known_ = false;
  std::vector<Seen> seen_;
  std::map<std::string, Folder> folders_;
  std::vector<std::string> missing_;  // those for which no folder can vouch
};

}  // namespace ralph
