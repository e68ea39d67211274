// Files that make other programs run code: hooks of git, settings of agents, an agent's own program. They are taken
// when a run begins and compared between its steps. Of a file that is other people's too, only what names a program is
// compared and put back; all other changes stay.
//
//   TRY_VALUE(Triggers triggers, Triggers::take(places, roots, store));
//   for (const Triggers::Change& change : triggers.changes()) TRY(triggers.put_back(change, "…/kept"));
//
// Comparing costs one lstat a file (checks/glance.h). The copies stand in `store`, and are checked by their hashes when
// they are used.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "checks/glance.h"
#include "checks/quiet_look.h"
#include "checks/trigger_place.h"
#include "git/own_index.h"
#include "git/push_target.h"
#include "git/repository_mark.h"

namespace ralph {

class Triggers {
 public:
  struct Change {
    TriggerPlace place;                 // of this file alone
    std::string what;                   // "changed", "deleted", "made", "made something else", "made anew"
    std::string sha256;                 // of what is there now
    bool folder = false;                // a file or a symlink stands in the place of a folder
    std::vector<std::string> names{};   // the settings that changed, if it has settings
    std::vector<std::string> others{};  // of a kProgram: the files that changed
  };

  // What is remembered of the repository besides its files.
  struct Repository {
    TakenIndex index;
    PushTarget push;
  };

  // `roots`: the folders below which nothing is reached through a symlink that was not there before.
  static Result<Triggers> take(const std::vector<TriggerPlace>& places, const std::vector<std::string>& roots,
                               const std::string& store, Repository repository = {});

  // What take() left in `store`. Fails if that is not what `manifest` says.
  static Result<Triggers> load(const std::string& store, const std::string& manifest);

  // Those that are not as they were. A file of an earlier place is not looked at again by a later one.
  std::vector<Change> changes();

  // Repositories whose HEAD leads to no commit any more. Asks git if anything about HEAD has changed, so that
  // its settings have to be put back before.
  std::vector<Change> headless_repositories();

  // Puts it back as it was. What is there now is moved or copied to `kept`.
  Status put_back(const Change& change, const std::string& kept);

  const Repository& repository() const { return repository_; }
  size_t size() const { return files_.size(); }
  const std::string& manifest() const { return manifest_; }  // the hash of the list

 private:
  struct File {
    std::string sha256;  // of its content; of a symlink's target; its stamp, if it can't be read
    std::string part;    // the hash of what is compared
    unsigned mode = 0;
    bool link = false;
    std::string stamp{};                   // of the last look that found it as it was; not kept
    std::optional<std::string> content{};  // if it is small, so that nobody can destroy it; not kept
  };
  enum class Folder { kNone, kReal, kOther };

  explicit Triggers(std::string store) : store_(std::move(store)) {}
  std::map<std::string, TriggerPlace> files_now(Glance& glance) const;  // by path
  Status remember(const TriggerPlace& place, bool copied);
  void remember_folders(const std::string& path, const std::vector<std::string>& roots);
  std::optional<Change> look_at(const TriggerPlace& place, Glance& glance);
  std::vector<std::string> false_folders(Glance& glance) const;
  std::vector<Change> changes(Glance& glance, std::vector<Change> lost);
  std::vector<Change> lost_repositories() const;
  const TriggerPlace* place_of(const std::string& path) const;  // of a file that is not there now
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
  std::map<std::string, File> files_;         // as they were, by path; what is not here was not there
  std::map<std::string, Folder> folders_;     // above them, below the roots
  std::map<std::string, HeadState> heads_;  // by repository: what HEAD was when it last led to a commit
  QuietLook quiet_;                         // the last look, if it found nothing
};

}  // namespace ralph
