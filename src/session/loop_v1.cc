#include "session/loop_v1.h"

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

std::string folder_of(const std::string& project) {
  return join_path(project, ".ralph/loop");
}

}  // namespace

std::string loop_file_v1(const std::string& project, const std::string& session_file) {
  const std::string path = join_path(folder_of(project), session_file + ".json");
  return is_real_folder(folder_of(project)) && is_real_file(path) ? path : "";
}

std::optional<LoopState> read_loop_v1(const std::string& path) {
  const auto text = read_file(path);
  const auto value = text ? parse_json(*text, path) : tl::unexpected(text.error());
  if (!value || find_integer(*value, "v") != 1) return std::nullopt;
  LoopState state = from_json<LoopState>(*value);
  if (state.request.promise.empty() || state.request.max_iterations < 1) return std::nullopt;
  const std::string log = path + "l";  // .jsonl: its last complete line has the state
  if (!is_real_file(log)) return state;
  for (const std::string& line : split(read_file(log).value_or(""), '\n')) {
    const auto record = parse_json(line, log);
    if (!record || !record->is_object()) continue;
    state.host.recent_calls.clear();
    state.fields(FieldReader{record->get_object()});
    state.updated = find_string(*record, "time").value_or("");
  }
  return state;
}

std::vector<LoopState> loop_history_v1(const std::string& project) {
  const std::string folder = join_path(folder_of(project), "history");
  std::vector<LoopState> states;
  if (!is_real_folder(folder)) return states;
  for (const std::string& name : names_in(folder)) {
    const std::string path = join_path(folder, name);
    if (!name.ends_with(".json") || !is_real_file(path)) continue;
    if (auto state = read_loop_v1(path)) states.push_back(*std::move(state));
  }
  return states;
}

void forget_loop_v1(const std::string& project, const std::string& session_file) {
  for (const std::string_view ending : {".json", ".jsonl", ".tools", ".lock"})
    ::unlink(join_path(folder_of(project), session_file + std::string(ending)).c_str());
}

}  // namespace ralph
