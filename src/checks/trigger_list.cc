// The persistent list of what a run watches.
#include "base/sha256.h"
#include "checks/triggers.h"
#include "json/value.h"
#include "os/files.h"

namespace ralph {
namespace {

using Texts = std::map<std::string, std::string>;

json::object object_of(const Texts& texts) {
  json::object object;
  for (const auto& [name, value] : texts) object[to_json_string(name)] = to_json_string(value);
  return object;
}

Texts map_in(const json::value& all, std::string_view key) {
  Texts texts;
  const json::value* object = find(all, key);
  for (const auto& member : object && object->is_object() ? object->get_object() : json::object())
    texts[std::string(member.key())] = member.value().as_string();
  return texts;
}

}  // namespace

std::string Triggers::list_in(const std::string& store) {
  return join_path(store, "triggers.json");
}

std::string Triggers::to_text() const {
  json::object all;
  json::array places, files, folders;
  for (const TriggerPlace& place : places_)
    places.push_back(json::object{{"path", to_json_string(place.path)},
                                  {"kind", static_cast<int>(place.kind)},
                                  {"putBack", place.put_back},
                                  {"why", to_json_string(place.why)},
                                  {"keys", to_json_array(place.keys)}});
  for (const auto& [path, file] : files_)
    files.push_back(json::object{{"path", to_json_string(path)},
                                 {"sha256", file.sha256},
                                 {"part", file.part},
                                 {"mode", file.mode},
                                 {"link", file.link}});
  for (const auto& [path, folder] : folders_)
    folders.push_back(json::object{{"path", to_json_string(path)}, {"is", static_cast<int>(folder)}});
  all["places"] = std::move(places);
  all["files"] = std::move(files);
  all["folders"] = std::move(folders);
  all["roots"] = to_json_array(roots_);
  all["index"] = repository_.index.hash;
  all["gitDir"] = to_json_string(repository_.index.git_dir);
  all["hidden"] = object_of(repository_.index.hidden);
  all["push"] = object_of(repository_.push);
  return to_compact_json(all) + "\n";
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
  const auto each = [&](std::string_view key, const auto& add) {
    const json::value* list = ralph::find(all, key);
    for (const json::value& one : list && list->is_array() ? list->get_array() : json::array{})
      add(std::string(find_string(one, "path").value_or("")), one);
  };
  each("places", [&](std::string at, const json::value& one) {
    TriggerPlace place{std::move(at), static_cast<TriggerKind>(find_integer(one, "kind").value_or(0)),
                       find_bool(one, "putBack").value_or(true), std::string(find_string(one, "why").value_or(""))};
    if (const json::value* keys = ralph::find(one, "keys"); keys && keys->is_array()) {
      for (const json::value& word : keys->get_array()) place.keys.emplace_back(word.as_string());
    }
    triggers.places_.push_back(std::move(place));
  });
  each("files", [&](const std::string& at, const json::value& one) {
    triggers.files_[at] = {
        std::string(find_string(one, "sha256").value_or("")), std::string(find_string(one, "part").value_or("")),
        static_cast<unsigned>(find_integer(one, "mode").value_or(0644)), find_bool(one, "link").value_or(false)};
  });
  each("folders", [&](const std::string& at, const json::value& one) {
    triggers.folders_[at] = static_cast<Folder>(find_integer(one, "is").value_or(0));
  });
  if (const json::value* roots = ralph::find(all, "roots"); roots && roots->is_array()) {
    for (const json::value& root : roots->get_array()) triggers.roots_.emplace_back(root.as_string());
  }
  const auto text_of = [&](std::string_view key) { return std::string(find_string(all, key).value_or("")); };
  triggers.repository_ = {{text_of("index"), text_of("gitDir"), map_in(all, "hidden")}, map_in(all, "push")};
  triggers.manifest_ = manifest;
  return triggers;
}

}  // namespace ralph
