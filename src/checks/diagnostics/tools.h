// Shared by the files of the individual collectors: lenient JSON access, lists of files as arguments, GNU-style
// messages. Only for files in this folder and in lsp.
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

// The files of a scope with these endings, or all such files of the project. As arguments they go after `--`, or as
// "./-x".
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

// Calls `each` for every line, without its line ending.
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

// Parses "a.c:3:5: message" or "a.c:3: message"; `file` is empty if the line has another form or is indented.
struct PlacedLine {
  std::string_view file, message;
  int line = 0, column = 0;
};
PlacedLine placed_line(std::string_view line);

// A finding at the members of a JSON object with these names; see json/value.h.
struct FindingNames {
  using Path = std::initializer_list<std::string_view>;
  Path file, line, column, rule, message;
};
Finding finding_at(const json::value& item, const FindingNames& names);

// For "error" and "warning"; any other word is an info.
Severity severity_from(std::string_view word);

// Removes a number from the start of `text` and returns it; -1 if there is none.
int take_int(std::string_view& text);

// The GNU format of compilers: "a.c:3:5: warning: unused variable 'x' [-Wunused-variable]". Notes are left out.
std::vector<Finding> parse_gnu(std::string_view text);

// Whether one of the findings is an error. A tool that exits with a nonzero code but reports only warnings has failed
// at something else.
bool has_error(std::span<const Finding> findings);

// A finding for a failing test.
Finding failing_test(std::string name, std::string file, int line, std::string_view message);

// Whether package.json or a configuration file mentions the runner.
bool uses_vitest(const ProjectView& project);
bool uses_jest(const ProjectView& project);

// The path of this file in the project's root or one of its build folders, relative to the project; empty if there is
// none.
std::string in_build_folder(const ProjectView& project, std::string_view file);

}  // namespace ralph::diagnostics
