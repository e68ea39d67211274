// A collector: how one tool is detected in a project, started, and parsed. One row per collector in collector.cc, one
// file per tool or family of tools. Detection and parsing are pure except for reading the project's files; nothing is
// started here (collect.h does that, or the engine in its own steps).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/diagnostics/finding.h"
#include "checks/diagnostics/project_view.h"
#include "os/launch.h"

namespace ralph::diagnostics {

// What a collector should check, and what it may use.
struct Scope {
  std::vector<std::string> files{};  // relative to the project; empty: all of it
  bool named = false;                // requested by name: it runs even if nothing configures it
  std::string hub{};                 // the socket of the run's own warm language servers; empty: it has none
  bool accepted = false;             // programs inside the project may be started
  bool caches = false;               // it may trust its caches in the project, which an agent can write

  bool whole() const { return files.empty(); }
};

struct ToolCommand {
  std::vector<std::string> argv;  // argv[0] is an absolute path or a system program
  std::string folder;             // absolute
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string context{};             // for the parser
  std::string starts{};              // the tool, if argv[0] is a ralph program that starts it
  std::vector<std::string> reads{};  // paths outside the project, for a sandbox
};

// What a collector would run.
struct CollectorPlan {
  bool applies = true;                  // false: the project does not use it, or it handles no file in the scope
  std::string missing{};                // not empty: it applies but can't run; what to do about it
  std::string broken{};                 // not empty: it applies but has failed before anything ran; why
  std::vector<ToolCommand> commands{};  // run in parallel
  bool whole_project = false;           // the tool can't check single files
  bool compiles = false;                // an error in any file it reads, even a vendored one, counts for the project
  std::string compile_rule{};           // the rule of such errors; empty: all errors

  static CollectorPlan not_used() { return {false}; }
};

// The output of a command.
struct ToolOutput {
  std::string out, err;
  int exit_code = 0;
  int signal = 0;         // not 0: killed by this signal
  bool cut = false;       // it printed more than was kept
  std::string context{};  // of its ToolCommand
};

// The parsed output. Files are as the tool names them: absolute, or relative to the command's folder.
struct ParsedOutput {
  std::vector<Finding> findings{};
  std::optional<TestCounts> tests{};
  std::string failure{};  // not empty: the output is not that of a completed run
  bool gave_up = false;   // at one of its errors, so nothing is known about the rest
  bool says_all = false;  // the failure is the tool's own sentence: exit code and last line add nothing to it
};

struct Collector {
  std::string_view name;
  Kind kind;
  CollectorPlan (*plan)(const ProjectView& project, const Scope& scope);
  ParsedOutput (*parse)(const ToolOutput& output);
};

// In display order.
std::span<const Collector> all_collectors();
const Collector* collector_named(std::string_view name);  // nullptr if there is none

}  // namespace ralph::diagnostics
