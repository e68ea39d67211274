#include "policy/tool_policy.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph {
namespace {

// The paths in a tool's input, under any of the keys that hosts use.
std::vector<std::string> paths_in(const json::value& input) {
  std::vector<std::string> paths;
  for (const std::string_view key :
       {"file_path", "notebook_path", "path", "absolute_path", "filePath", "file", "dir_path"}) {
    if (const auto path = find_string(input, key); path && !path->empty()) paths.emplace_back(*path);
  }
  for (const std::string_view key : {"paths", "files", "include"}) {
    for (std::string& path : strings_of(find(input, key))) paths.push_back(std::move(path));
  }
  return paths;
}

// A command is a shell command line or a list of words (["bash", "-lc", "..."]).
std::optional<std::string> command_in(const json::value& input) {
  for (const std::string_view key : {"command", "cmd", "script"}) {
    const json::value* command = find(input, key);
    if (!command) continue;
    if (command->is_string()) return std::string(command->get_string());
    if (!command->is_array()) continue;
    return quote_shell_words(strings_of(command));
  }
  return std::nullopt;
}

// The command's working directory, if the input has one.
std::string folder_in(const json::value& input) {
  for (const std::string_view key : {"dir_path", "directory", "workdir", "cwd"}) {
    if (const auto folder = find_string(input, key); folder && !folder->empty()) return std::string(*folder);
  }
  return {};
}

}  // namespace

std::vector<std::string> files_of_patch(std::string_view patch) {
  std::vector<std::string> files;
  for (const std::string& line : split(patch, '\n')) {
    for (const std::string_view head : {"*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"}) {
      const std::string_view text = trim(line);
      if (text.starts_with(head)) files.emplace_back(trim(text.substr(head.size())));
    }
  }
  return files;
}

ToolUse tool_use_of(std::string_view tool, const json::value& input) {
  ToolUse use;
  const std::string name = to_lower(tool);
  if (is_listed("apply_patch applypatch patch", name)) {
    for (const std::string_view key : {"command", "input", "patch", "patchText"}) {
      if (const auto patch = find_string(input, key)) use.writes = files_of_patch(*patch);
      if (!use.writes.empty()) break;
    }
    return use;
  }
  if (is_listed("bash run_shell_command shell local_shell shell_command exec_command unified_exec monitor", name)) {
    use.command = command_in(input);
    use.folder = folder_in(input);
  } else if (is_listed("write edit multiedit notebookedit write_file replace edit_file create_file", name)) {
    use.writes = paths_in(input);
  } else if (is_listed("read read_file read_many_files grep search_file_content grep_search view_image", name)) {
    use.reads = paths_in(input);
  }
  return use;
}

std::optional<Objection> judge_tool(std::string_view tool, const ToolUse& use, const CommandLists& lists,
                                    const PolicyPlace& place, const ShellSetting& setting) {
  if (use.command) {
    ShellSetting there = setting;
    if (!use.folder.empty()) {
      there.cwd = absolute_path(with_home(use.folder, place.home), setting.cwd);
      if (place.real_path) there.cwd = place.real_path(there.cwd);
    }
    return judge_command(*use.command, lists, place, there).first;
  }
  // A patch may name any number of files.
  const auto is_too_much = [&](const std::string& path) {
    constexpr size_t kUnitsPerFile = 8;
    if (setting.effort) setting.effort->spend(kUnitsPerFile + path.size() / 16);
    return setting.effort && setting.effort->is_over();
  };
  for (const std::string& path : use.writes) {
    if (is_too_much(path)) return too_long_to_judge(tool);
    if (auto objection = judge_file_write(path, tool, lists, place, setting.cwd)) return objection;
  }
  for (const std::string& path : use.reads) {
    if (is_too_much(path)) return too_long_to_judge(tool);
    if (auto objection = judge_file_read(path, tool, lists, place, setting.cwd)) return objection;
  }
  return std::nullopt;
}

}  // namespace ralph
