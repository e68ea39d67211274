// Files that make other programs run code: git hooks, agent settings, an agent's own program. They are recorded when a
// run begins and compared between its steps. For files that other tools also use, only the settings that name a program
// are compared and restored; other changes are kept.
//
//   TRY_VALUE(Triggers triggers, Triggers::take(places, roots, store));
//   for (const Triggers::Change& change : triggers.changes()) TRY(triggers.put_back(change, "…/kept"));
//
// Comparing costs one lstat per file (checks/lstat_cache.h). The copies are in `store`, and their hashes are verified
// when they are used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checks/lstat_cache.h"
#include "checks/trigger_place.h"
#include "git/own_index.h"
#include "git/push_target.h"
#include "git/repository_mark.h"

namespace ralph {

class Triggers {
 public:
  struct Change {
    TriggerPlace place;                 // of this single file
    std::string what;                   // "changed", "deleted", "created", "replaced by something else", "recreated"
    std::string sha256;                 // of the current content
    bool folder = false;                // a folder was replaced by a file or a symlink
    std::vector<std::string> names{};   // the settings that changed, if the file has settings
    std::vector<std::string> others{};  // for kProgram: the files that changed
  };

  // What is recorded about the repository in addition to its files.
  struct Repository {
    TakenIndex index;
    PushTarget push;
  };

  // `roots`: the folders below which nothing may be reached through a symlink that did not exist before.
  static Result<Triggers> take(const std::vector<TriggerPlace>& places, const std::vector<std::string>& roots,
                               const std::string& store, Repository repository = {});

  // Loads what take() left in `store`. Fails if that does not match `manifest`.
  static Result<Triggers> load(const std::string& store, const std::string& manifest);

  // Files that differ from their recorded state. A file of an earlier place is not checked again for a later one.
  std::vector<Change> changes();

  // Repositories whose HEAD no longer resolves to a commit. Asks git if anything about HEAD has changed, so its
  // settings must be restored first.
  std::vector<Change> headless_repositories();

  // Restores the recorded state. What is there now is moved or copied to `kept`.
  Status put_back(const Change& change, const std::string& kept);

  const Repository& repository() const { return repository_; }
  size_t size() const { return files_.size(); }
  const std::string& manifest() const { return manifest_; }  // the hash of the list

 private:
  struct File {
    std::string sha256;  // of its content or a symlink's target; its stamp if it can't be read
    std::string part;    // the hash of the compared part
    unsigned mode = 0;
    bool link = false;
    std::string stamp{};                   // of the last check that found it unchanged; not saved
    std::optional<std::string> content{};  // for small files, so that nobody can destroy it; not saved

    template <class V>
    void fields(V&& v) {
      v("sha256", sha256), v("part", part), v("mode", mode), v("link", link);
    }
  };
  enum class Folder { kNone, kReal, kOther };
  struct List;  // what is written down

  explicit Triggers(std::string store) : store_(std::move(store)) {}
  std::map<std::string, TriggerPlace> files_now(LstatCache& lstats) const;  // by path
  Status remember(const TriggerPlace& place, bool copied);
  void remember_folders(const std::string& path, const std::vector<std::string>& roots);
  std::optional<Change> look_at(const TriggerPlace& place, LstatCache& lstats);
  std::vector<std::string> replaced_folders(LstatCache& lstats) const;
  std::vector<Change> changes(LstatCache& lstats, std::vector<Change> lost);
  std::vector<Change> lost_repositories() const;
  const TriggerPlace* place_of(const std::string& path) const;  // of a file that does not exist now
  void join_programs(std::vector<Change>& changes) const;
  Result<std::string> content_before(const std::string& path) const;
  Status write_before(const std::string& path);
  Status mend(const Change& change, const std::string& kept);
  Status put_back_program(const Change& change, const std::string& kept);
  std::string to_text() const;
  static std::string list_in(const std::string& store);

  std::string store_, manifest_;
  std::vector<TriggerPlace> places_;
  std::vector<std::string> roots_;
  Repository repository_;
  std::map<std::string, File> files_;       // as they were, by path; a file that is not here did not exist
  std::map<std::string, Folder> folders_;   // above them, below the roots
  std::map<std::string, HeadState> heads_;  // by repository: what HEAD was when it last led to a commit
  ScanMemo quiet_;                          // the last look, if it found nothing
};

}  // namespace ralph
