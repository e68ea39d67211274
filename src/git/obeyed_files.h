// The files that make git run programs, that hide changes from it, or that say which repository it works in: those of a
// project's repository, and the user's own.
#pragma once

#include <string>
#include <vector>

#include "os/environment.h"

namespace ralph {

enum class ObeyedKind {
  kFile,
  kPlainFile,         // read whatever it is: a pipe would block git
  kHooks,             // a folder of hooks
  kFolder,            // everything below it
  kRepositories,      // a folder with those of submodules or work trees
  kAttributes,        // lines about filters, drivers and idents
  kConfig,            // settings that name programs
  kRepositoryConfig,  // the same, and what the repository is; `details` has the user's remotes
  kRepository,        // `.git` itself; `details` has git_dir, common_dir, folder and commit of its RepositoryMark
};

struct ObeyedFile {
  std::string path;  // absolute; it may be missing
  ObeyedKind kind = ObeyedKind::kFile;
  bool put_back = true;  // it belongs to the project or its repository
  std::string why;
  std::vector<std::string> details{};
};

struct ObeyedFiles {
  std::vector<ObeyedFile> files;
  std::vector<std::string> roots;  // the project, and the repository's folders, which count as part of it
};
ObeyedFiles files_git_obeys(const std::string& project, const Environment& environment);

// Whether `path` is in one of the folders, by its name and with all links resolved.
bool is_really_below(const std::string& path, const std::vector<std::string>& folders);

}  // namespace ralph
