// Resolves symlinks, and remembers what it has seen of the disk, so that a thousand paths below one folder cost the
// kernel one question each, and a path below a folder that does not exist costs none. For one decision: what changes on
// the disk meanwhile is not noticed.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace ralph {

class RealPaths {
 public:
  // The absolute path with every symlink followed as far as it exists; the rest, which does not, stays as written.
  std::string of(const std::string& path);

  size_t questions() const { return questions_; }  // how often the kernel was asked

 private:
  // What is known of a name in a folder whose own path is real.
  struct Name {
    enum class Kind { kFolder, kLink, kMissing } kind = Kind::kFolder;
    std::string target{};  // of a link
    std::map<std::string, Name, std::less<>> names{};
  };
  Name look(const std::string& path);

  std::string resolve(const std::string& path);

  Name root_;
  std::string last_path_, last_real_;  // many questions in a row are about one folder
  size_t questions_ = 0;
};

}  // namespace ralph
