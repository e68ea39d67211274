// The diagnostics of a session: what the project's tools say at a stop, against which criteria, and whether that gets
// any better. Used by loops with criteria and, without a loop, by auto mode.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/diagnostics/collect.h"
#include "journal/records.h"
#include "session/loop_request.h"
#include "settings/settings.h"

namespace ralph {

// What is looked at, and for what.
struct DiagnoseOrder {
  std::string project;
  Environment environment;
  diagnostics::Criteria criteria;
  std::vector<std::string> paths{};  // only findings below these; empty: anywhere
  Milliseconds limit{0};             // for each collector, if that is less than the settings'; 0: theirs
  int guardian = -1;
  bool must_judge = true;               // a criterion that can't be judged here any more is not met
  std::vector<std::string> edited{};    // by a session without a loop
  std::vector<std::string> answered{};  // collectors that have in this session: if one is missing now, it fell silent
  std::string outset{};                 // a file of note_outset(): what the agent hides since is told, and counts
};

struct Diagnosis {
  diagnostics::Snapshot snapshot;
  std::vector<std::string> unmet{};              // of the criteria
  std::string worst{};                           // the findings that matter most, one line each
  std::vector<diagnostics::Finding> findings{};  // that stand against the criteria
  std::vector<std::string> unavailable{};        // tools that apply and are not there, and never were:
                                                 // unknown, and nobody is held
  std::vector<std::string> answered{};           // the names of those that are there
  std::vector<record::ChangedFile> hiding{};     // files whose change may hide something, told for the first time
};

Result<Diagnosis> diagnose(const DiagnoseOrder& order);

// Fails (kUsage) if a criterion can't be judged here: a tool is missing, or nothing looks.
Status check_criteria(const std::string& project, const Environment& environment,
                      const diagnostics::Criteria& criteria);

// Notes how things stand when a loop with criteria begins (checks/diagnostics/outset.h).
Status note_outset(const std::string& path, const std::string& project, const Environment& environment,
                   const diagnostics::Criteria& criteria);

// What every continuation of auto mode begins with. Some hosts report it as a line of the user.
inline constexpr std::string_view kAutoContinueMark = "Ralph Loop: AUTO-CONTINUE";

// The messages of a loop with criteria and of auto mode, for the model and the user.
std::string continue_message(const std::vector<diagnostics::Snapshot>& snapshots, int iteration, int most,
                             const std::string& worst);
std::string auto_continue_message(const diagnostics::Snapshot& now, const std::string& worst);
std::string complete_message(const std::string& session, int iterations,
                             const std::vector<diagnostics::Snapshot>& snapshots);

// The snapshots of a session, in a file of its own.
std::vector<diagnostics::Snapshot> load_snapshots(const std::string& path);
Status save_snapshots(const std::string& path, const std::vector<diagnostics::Snapshot>& snapshots);

// Whether the agent says that it is done: <ralph>DONE</ralph>, <jikime>COMPLETE</jikime>, <ralph:done /> and the like,
// alone on a line.
bool has_completion_marker(std::string_view words);

}  // namespace ralph
