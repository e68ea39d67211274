// A collector: how one tool is detected in a project, started, and read. One row per collector in collector.cc, one
// file per tool or family of tools. Detection and parsing are pure but for looking at the project's files; nothing is
// started here (collect.h does that, or the engine by its own steps).
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

// What a collector is asked to look at, and what it may use for it.
struct Scope {
  std::vector<std::string> files{};  // relative to the project; empty: all of it
  bool named = false;                // somebody asked for this collector by name: it runs though nothing configures it
  std::string hub{};                 // the socket of a run's own warm language servers; empty: it keeps none
  bool accepted = false;             // a program that lies in the project may be started
  bool caches = false;               // it may believe what it noted in the project earlier: an agent can write that

  bool whole() const { return files.empty(); }
};

struct ToolCommand {
  std::vector<std::string> argv;  // argv[0] is an absolute path, or a program of the system
  std::string folder;             // absolute
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string context{};             // for the parser
  std::string starts{};              // the tool, if argv[0] is a program of ralph's that starts it
  std::vector<std::string> reads{};  // outside of the project, for a sandbox
};

// What a collector would run.
struct CollectorPlan {
  bool applies = true;                  // false: the project does not use it, or no file in the scope is for it
  std::string missing{};                // not empty: it applies and can't run; what to do about it
  std::string broken{};                 // not empty: it applies and has failed before anything runs; why
  std::vector<ToolCommand> commands{};  // side by side
  bool whole_project = false;           // the tool can't look at single files
  bool compiles = false;                // an error in any file that it reads, vendored ones too, is the project's
  std::string compile_rule{};           // of such errors; empty: all are

  static CollectorPlan not_used() { return {false}; }
};

// What a command left.
struct ToolOutput {
  std::string out, err;
  int exit_code = 0;
  int signal = 0;         // not 0: it was killed by this signal
  bool cut = false;       // it printed more than is kept
  std::string context{};  // of its ToolCommand
};

// What a parser made of it. Files are as the tool names them: absolute, or relative to the command's folder.
struct ParsedOutput {
  std::vector<Finding> findings{};
  std::optional<TestCounts> tests{};
  std::string failure{};  // not empty: the output is not what the tool writes when it has done its work
  bool gave_up = false;   // at one of its errors: of the rest nothing is known
  bool says_all = false;  // the failure is a sentence of the tool's own: neither exit code nor last line add to it
};

struct Collector {
  std::string_view name;
  Kind kind;
  CollectorPlan (*plan)(const ProjectView& project, const Scope& scope);
  ParsedOutput (*parse)(const ToolOutput& output);
};

// In the order in which they are shown.
std::span<const Collector> all_collectors();
const Collector* collector_named(std::string_view name);  // nullptr: there is none

}  // namespace ralph::diagnostics
