// Files that an agent must not change unnoticed: protected ones, which are copied when the run begins and can be
// restored, and those that a check's command names. Comparing costs one lstat per file; content is read only if that
// differs.
//
//   TRY_VALUE(WatchedFiles files, WatchedFiles::take(project, store, {{"tests/**"}, {"make test"}}));
//   for (const WatchedFiles::Change& change : files.changes()) TRY(files.put_back(change, "…/kept"));
//
// The copies are in `store`, with a list of all files. The hashes of both are verified when they are used.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace ralph {

class WatchedFiles {
 public:
  struct Rules {
    std::vector<std::string> patterns;      // see path_pattern.h
    std::vector<std::string> commands;      // of checks
    bool copies = true;                     // of what the patterns match; false: it can't be restored
    std::uint64_t most_bytes = 1ULL << 30;  // of what the patterns match
  };
  struct File {
    std::string path;    // relative to the project
    std::string sha256;  // of its content or a symlink's target
    unsigned mode = 0;
    bool link = false, is_protected = false;
    bool absent = false;   // it did not exist, but a check's program would read it
    std::string named_by;  // the check's command; empty: none
    std::string stamp;     // of the last check that found it unchanged

    template <class V>
    void fields(V&& v) {
      v("path", path), v("sha256", sha256), v("mode", mode), v("link", link), v("protected", is_protected);
      v("namedBy", named_by), v("absent", absent), v("stamp", stamp);
    }
  };
  struct Change {
    size_t file = 0;     // its index in files()
    std::string what;    // "changed", "deleted", "created", "replaced by something else"
    std::string sha256;  // of the current content; empty: nothing readable
  };

  // Refuses patterns that match more than `most_bytes`, or 100,000 files.
  static Result<WatchedFiles> take(const std::string& project, const std::string& store, const Rules& rules);

  // Loads what take() left in `store`. Fails if that does not match `manifest`.
  static Result<WatchedFiles> load(const std::string& project, const std::string& store, const std::string& manifest);

  // Files that differ from their recorded state, ordered by path.
  std::vector<Change> changes();

  // Restores the file. What is there now, and anything that replaced a parent folder, is moved to `kept`.
  Status put_back(const Change& change, const std::string& kept);

  const std::vector<File>& files() const { return files_; }
  const std::string& manifest() const { return manifest_; }  // the hash of the list
  std::uint64_t bytes() const { return bytes_; }             // of the copies

 private:
  WatchedFiles(std::string project, std::string store) : project_(std::move(project)), store_(std::move(store)) {}
  Status add(const std::string& path, bool is_protected, const std::string& named_by, const Rules& rules);
  Status add_below(const std::string& folder, const Rules& rules);
  void add_absent(const std::string& path, const std::string& named_by);
  Status write_manifest();
  std::string where(const File& file) const;

  std::string project_, store_, manifest_;
  std::vector<File> files_;
  std::map<std::string, size_t> known_;  // by path
  std::uint64_t bytes_ = 0;
};

}  // namespace ralph
