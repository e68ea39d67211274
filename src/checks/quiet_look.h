// Remembers everything that an uneventful look depended on, so that the next look can tell with one lstat per existing
// file that it would be uneventful too.
//
// A missing file needs no lstat of its own: creating it changes the ctime of the folder that it is missing from. Two
// changes within one tick of the file system's clock leave the same ctime, though, so a folder vouches for its content
// only once it has been examined a whole tick after its ctime was first seen.
#pragma once

#include <map>
#include <string>
#include <sys/stat.h>
#include <vector>

#include "base/time.h"
#include "checks/glance.h"

namespace ralph {

class QuietLook {
 public:
  // Keeps what `glance` saw. `began` is a time before its first lstat.
  void remember(const Glance& glance, MonotonicTime began);

  void forget() { *this = QuietLook(); }

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
