// What the files of single collectors share: reading JSON leniently, lists of files as arguments, GNU-style messages.
// Only for files of this folder and of lsp.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "checks/diagnostics/collector.h"
#include "json/value.h"

namespace ralph::diagnostics {

// A member, or a member of a member; nullptr if there is none.
const json::value* member(const json::value& value, std::initializer_list<std::string_view> keys);
std::string text_at(const json::value& value, std::initializer_list<std::string_view> keys);  // "" if there is none
int number_at(const json::value& value, std::initializer_list<std::string_view> keys);        // 0 if there is none
const json::array& array_at(const json::value& value, std::string_view key);                  // empty if there is none

// The files of a scope that end so, or all of the project's. As arguments they are given after `--`, or as "./-x".
std::vector<std::string> files_for(const ProjectView& project, const Scope& scope,
                                   std::span<const std::string_view> endings);
inline std::vector<std::string> files_for(const ProjectView& project, const Scope& scope,
                                          std::initializer_list<std::string_view> endings) {
  return files_for(project, scope, std::span(endings.begin(), endings.size()));
}

// One command for all files, or several if they don't fit into one argument list.
std::vector<ToolCommand> commands_for(const ProjectView& project, const std::vector<std::string>& argv,
                                      const std::vector<std::string>& files);

// A plan for a missing tool.
CollectorPlan missing_tool(std::string_view tool, std::string_view how_to_install);

// Calls `each` for every line, without its end.
template <class F>
void for_each_line(std::string_view text, F&& each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    each(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// "a.c:3:5: message" or "a.c:3: message" taken apart; file is empty if the line is none. No file name has a blank
// before its first colon unless it begins the line.
struct PlacedLine {
  std::string_view file, message;
  int line = 0, column = 0;
};
PlacedLine placed_line(std::string_view line);

// A number at the beginning, which is taken away; -1 if there is none.
int take_int(std::string_view& text);

// The GNU format of compilers: "a.c:3:5: warning: unused variable 'x' [-Wunused-variable]". Notes are left out.
std::vector<Finding> parse_gnu(std::string_view text);

// Whether one of the findings is an error. A tool that exits with another code than 0 and has only warnings to say has
// failed at something else.
bool has_error(std::span<const Finding> findings);

// A runner's failing test.
Finding failing_test(std::string name, std::string file, int line, std::string_view message);

// Whether package.json or a configuration file names the runner.
bool uses_vitest(const ProjectView& project);
bool uses_jest(const ProjectView& project);

// The build folders of a CMake project that hold this file, as paths relative to the project.
std::string in_build_folder(const ProjectView& project, std::string_view file);

}  // namespace ralph::diagnostics
