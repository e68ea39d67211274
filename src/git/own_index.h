// ralph's own copy of a repository's index, from before any agent ran. The index tells git which files to overlook and
// which ones to take for unchanged, and an agent can write anything there: flags, a sparse checkout, the size and the
// times of a file that it changed. What differs from HEAD by this copy does so whatever that index says.
#pragma once

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "git/git.h"
#include "git/hidden_files.h"

namespace ralph {

// What was found when the copy was taken.
struct TakenIndex {
  std::string hash{};     // of the copy; empty: it was never taken
  std::string git_dir{};  // the repository's folder: of another one that is there later, nothing is known
  // Tracked files that differ from the index, and that git took for unchanged already: an earlier agent hid them, or
  // their line ends are not those that .gitattributes asks for. They count once they are written, so each has a stamp.
  std::map<std::string, std::string> hidden{};
};

class OwnIndex {
 public:
  // Makes a Git for a place with more variables in its environment.
  using MakeGit = std::function<Git(const std::vector<std::pair<std::string, std::string>>& environment)>;

  // `folder`: where the copy is, outside of the project.
  OwnIndex(std::string folder, const MakeGit& make_git, TakenIndex taken = {});

  // Copies the repository's index, when a run begins. The hash is empty if there is no repository. Unless there are
  // very many or large files, all that it says is unchanged is read.
  Result<TakenIndex> take();

  // The files that differ from HEAD. If the copy is gone, or was changed by somebody, every file is read, and what was
  // hidden or left out when the run began differs. None if it was never taken.
  struct Change {
    std::string path;  // from the top-level folder
    bool untracked = false;
    bool ident = false;  // git takes the change for an ident of its own
  };
  enum class Extent {
    kTracked,  // that git tracks, and does not overlook because the user told it to
    kAll,      // also new ones, and those that git is told to overlook
  };
  Result<std::vector<Change>> changes(Extent extent) const;

  // All of them, with the commit that they differ from (empty before the first). None: of this repository nothing is
  // known.
  struct Look {
    std::string head;
    std::vector<Change> changes;
  };
  Result<std::optional<Look>> look() const;

 private:
  std::string file() const;  // the copy
  struct Place {
    std::string git_dir, top, index, commit;  // the last one is empty before the first commit
  };
  Result<Place> place() const;
  bool is_small(const std::string& top) const;
  Status prepare(const Place& now) const;
  Status prepare_anew(const Place& now) const;
  Result<std::vector<HiddenFile>> flagged() const;

  bool is_known(const Place& now) const { return !taken_.hash.empty() && now.git_dir == taken_.git_dir; }
  Result<std::vector<Change>> changes(Extent extent, const Place& now) const;
  Result<std::vector<std::string>> confirmed(const std::vector<std::string>& paths, const Place& now) const;
  Result<std::vector<Change>> compare(Extent extent, const Place& now) const;

  // The copy, moved to a commit. In memory, where nobody changes it between two looks.
  struct Prepared {
    std::string commit, content;
    timespec time{};
    std::optional<std::vector<HiddenFile>> flagged{};
  };

  std::string folder_;
  TakenIndex taken_;
  std::string content_{};                       // of the copy, if it is small, so that nobody can destroy it
  timespec time_{};                             // of the copy
  mutable std::optional<Prepared> prepared_{};  // the last one, if it is small
  Git git_, own_;                               // the repository's, and with ralph's index
};

}  // namespace ralph
