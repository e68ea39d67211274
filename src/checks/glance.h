// A cache of lstat results for checking many paths: each is queried at most once, and nothing below a missing folder is
// queried at all.
#pragma once

#include <optional>
#include <string>
#include <sys/stat.h>
#include <unordered_map>
#include <vector>

namespace ralph {

class Glance {
 public:
  // `folders` are known to exist.
  explicit Glance(const std::vector<std::string>& folders = {});

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

}  // namespace ralph
