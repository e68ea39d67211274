// ralph's own copy of a repository's index, taken before any agent ran. The index tells git which files to overlook and
// which ones to treat as unchanged, and an agent can write anything there: flags, a sparse checkout, the size and times
// of a file that it changed. A file that differs from HEAD according to this copy is changed, whatever the other index
// says.
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
  std::string git_dir{};  // the repository's folder: nothing is known about another one that replaces it later
  // Tracked files that already differed from the index although git treated them as unchanged: an earlier agent hid
  // them, or their line endings are not those that .gitattributes asks for. They count once they are written, so each
  // has a stamp.
  std::map<std::string, std::string> hidden{};
};

class OwnIndex {
 public:
  // Makes a Git with additional variables in its environment.
  using MakeGit = std::function<Git(const std::vector<std::pair<std::string, std::string>>& environment)>;

  // `folder`: where the copy is kept, outside the project.
  OwnIndex(std::string folder, const MakeGit& make_git, TakenIndex taken = {});

  // Copies the repository's index at the start of a run. The hash is empty if there is no repository. Unless there are
  // very many or large files, every file that the index calls unchanged is read.
  Result<TakenIndex> take();

  // The files that differ from HEAD. If the copy is gone or was modified, every file is read, and files that were
  // hidden or left out when the run began are reported too. Empty if the copy was never taken.
  struct Change {
    std::string path;  // from the top-level folder
    bool untracked = false;
    bool ident = false;  // git mistakes the change for an ident of its own
  };
  enum class Extent {
    kTracked,  // tracked files, except those that the user told git to overlook
    kAll,      // also new files, and those that git is told to overlook
  };
  Result<std::vector<Change>> changes(Extent extent) const;

  // All changes, and the commit that they differ from (empty before the first). nullopt if nothing is known about this
  // repository.
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
  Result<Place> ask_for_place() const;
  bool is_small(const std::string& top, const std::string& index) const;
  Status prepare(const Place& now) const;
  Status prepare_from_scratch(const Place& now) const;
  Result<std::vector<HiddenFile>> flagged() const;

  bool is_known(const Place& now) const { return !taken_.hash.empty() && now.git_dir == taken_.git_dir; }
  Result<std::vector<Change>> changes(Extent extent, const Place& now) const;
  Result<std::vector<std::string>> confirmed(const std::vector<std::string>& paths, const Place& now) const;
  Result<std::vector<Change>> compare(Extent extent, const Place& now) const;

  struct LastPlace {
    Place place;
    std::string repository;  // what it depends on
  };

  // The copy, moved to a commit. In memory, where nobody can change it between two checks.
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
  mutable std::optional<LastPlace> last_place_{};
  Git git_, own_;  // with the repository's index, and with ralph's
};

}  // namespace ralph
