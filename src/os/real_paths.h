// Resolves symlinks and caches what it has seen of the disk: a thousand paths below one folder cost one system call
// each, and a path below a folder that does not exist costs none. For a single decision: changes on disk in the
// meantime are not noticed.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace ralph {

class RealPaths {
 public:
  // The absolute path with every symlink followed as far as it exists; the part that does not exist stays as written.
  std::string of(const std::string& path);

  size_t system_calls() const { return system_calls_; }  // system calls so far

 private:
  // What is known about a name in a folder whose own path is real.
  struct Name {
    enum class Kind { kFolder, kLink, kMissing } kind = Kind::kFolder;
    std::string target{};  // of a link
    std::map<std::string, Name, std::less<>> names{};
  };
  Name look(const std::string& path);

  std::string resolve(const std::string& path);

  Name root_;
  std::string last_path_, last_real_;  // consecutive queries are often about one folder
  size_t system_calls_ = 0;
};

}  // namespace ralph
