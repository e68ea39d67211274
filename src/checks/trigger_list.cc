// The persistent list of what a run watches.
#include "base/sha256.h"
#include "checks/triggers.h"
#include "json/fields.h"
#include "os/files.h"

namespace ralph {

struct Triggers::List {
  struct OneFile {
    std::string path;
    File file;

    template <class V>
    void fields(V&& v) {
      v("path", path), file.fields(v);
    }
  };
  struct OneFolder {
    std::string path;
    int is = 0;

    template <class V>
    void fields(V&& v) {
      v("path", path), v("is", is);
    }
  };
  std::vector<TriggerPlace> places;
  std::vector<OneFile> files;
  std::vector<OneFolder> folders;
  std::vector<std::string> roots;
  Repository repository;

  template <class V>
  void fields(V&& v) {
    v("places", places), v("files", files), v("folders", folders), v("roots", roots);
    v("index", repository.index.hash), v("gitDir", repository.index.git_dir), v("hidden", repository.index.hidden);
    v("push", repository.push);
  }
};

std::string Triggers::list_in(const std::string& store) {
  return join_path(store, "triggers.json");
}

std::string Triggers::to_text() const {
  List list{places_, {}, {}, roots_, repository_};
  for (const auto& [path, file] : files_) list.files.push_back({path, {file.sha256, file.part, file.mode, file.link}});
  for (const auto& [path, folder] : folders_) list.folders.push_back({path, static_cast<int>(folder)});
  return to_compact_json(json_from(list)) + "\n";
}

Result<Triggers> Triggers::load(const std::string& store, const std::string& manifest) {
  Triggers triggers(store);
  const std::string path = list_in(store);
  const auto text = is_real_file(path) ? read_file(path) : Result<std::string>("");
  if (!text || sha256_hex(*text) != manifest)
    return fail(ErrorKind::kInput,
                "the list of the hooks and settings that this run watches ({}) is missing or was changed, so they "
                "can't be compared with their earlier state; check .git/hooks, .git/config and the settings of your "
                "agents, and start a new run",
                path);
  TRY_VALUE(const json::value all, parse_json(*text, path));
  List list = from_json<List>(all);
  triggers.places_ = std::move(list.places);
  for (List::OneFile& one : list.files) triggers.files_[one.path] = std::move(one.file);
  for (const List::OneFolder& one : list.folders) triggers.folders_[one.path] = static_cast<Folder>(one.is);
  triggers.roots_ = std::move(list.roots);
  triggers.repository_ = std::move(list.repository);
  triggers.manifest_ = manifest;
  return triggers;
}

}  // namespace ralph
