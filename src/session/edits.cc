#include "session/edits.h"

#include <algorithm>
#include <array>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"
#include "session/session_note.h"

namespace ralph {
namespace {

// For all hosts: the names of tools that write files, and of their arguments.
constexpr std::array<std::string_view, 11> kEditTools = {"write",      "edit",        "multiedit",  "notebookedit",
                                                         "write_file", "replace",     "patch",      "apply_patch",
                                                         "multi_edit", "create_file", "str_replace"};
constexpr std::array<std::string_view, 4> kPathKeys = {"file_path", "filePath", "path", "notebook_path"};
constexpr std::array<std::string_view, 3> kPatchLines = {"*** Update File: ", "*** Add File: ", "*** Move to: "};

void add_once(std::vector<std::string>& list, std::string item) {
  if (!item.empty() && std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

// A patch is one text that has a line for each of its files.
void add_patched(std::vector<std::string>& files, std::string_view patch) {
  for (const std::string& line : split(patch, '\n')) {
    for (const std::string_view begin : kPatchLines) {
      if (line.starts_with(begin)) add_once(files, std::string(trim(std::string_view(line).substr(begin.size()))));
    }
  }
}

std::string edits_path(const Environment& environment, const std::string& session) {
  const std::string note = session.empty() ? "" : note_path(environment, "", session);
  return note.empty() ? "" : note + ".edits";
}

}  // namespace

std::vector<std::string> edited_files(std::string_view tool, const json::value& input) {
  std::vector<std::string> files;
  const std::string name = to_lower(tool);
  if (std::find(kEditTools.begin(), kEditTools.end(), name) == kEditTools.end() || !input.is_object()) return files;
  for (const std::string_view key : kPathKeys) {
    if (const auto path = find_string(input, key)) add_once(files, std::string(*path));
  }
  for (const auto& member : input.get_object()) {
    const json::value& value = member.value();
    if (value.is_string()) add_patched(files, std::string_view(value.get_string()));
    // Codex passes the words of its command.
    if (!value.is_array()) continue;
    for (const json::value& word : value.get_array())
      if (word.is_string()) add_patched(files, std::string_view(word.get_string()));
  }
  return files;
}

void forget_edits(const Environment& environment, const std::string& session) {
  const std::string note = session.empty() ? "" : note_path(environment, "", session);
  if (note.empty()) return;
  for (const std::string_view end : {".edits", ".auto", ".untrusted", ".tools"})
    ::unlink((note + std::string(end)).c_str());
}

std::string path_in(const std::string& project, const std::string& cwd, const std::string& file) {
  return path_below(real_path(absolute_path(file, cwd)), real_path(project));
}

void note_edits(const Environment& environment, const std::string& session, const std::string& project,
                const std::vector<std::string>& files) {
  const std::string path = edits_path(environment, session);
  if (path.empty() || files.empty() || !make_directories(parent_path(path))) return;
  std::string lines;
  for (const std::string& file : files)
    lines += fmt::format("{}\n", to_compact_json(json::array{json::value(project), json::value(file)}));
  if (const auto out = open_for_append(path)) static_cast<void>(write_all(out->get(), lines, path));
}

std::optional<SessionEdits> edits_of(const Environment& environment, const std::string& session) {
  const std::string path = edits_path(environment, session);
  if (path.empty() || !is_real_file(path)) return std::nullopt;
  SessionEdits edits;
  for (const std::string& line : split(read_file(path).value_or(""), '\n')) {
    const auto value = parse_json(line, path);
    if (!value || !value->is_array() || value->get_array().size() != 2) continue;
    const json::array& pair = value->get_array();
    if (!pair[0].is_string() || !pair[1].is_string()) continue;
    const std::string project(pair[0].get_string());
    if (project != edits.project) edits = {project, {}};
    add_once(edits.files, std::string(pair[1].get_string()));
  }
  return edits.files.empty() ? std::nullopt : std::optional(std::move(edits));
}

}  // namespace ralph
