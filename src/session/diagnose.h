// The diagnostics of a session: the findings of the project's tools at a stop, the criteria they are judged by, and
// whether they improve. Used by loops with criteria and, without a loop, by auto mode.
#pragma once

#include <string>
#include <vector>

#include "checks/diagnostics/collect.h"
#include "journal/records.h"
#include "session/loop_request.h"
#include "settings/settings.h"

namespace ralph {

// What to examine, and by which criteria.
struct DiagnoseOrder {
  std::string project;
  Environment environment;
  diagnostics::Criteria criteria;
  std::vector<std::string> paths{};  // only findings below these; empty: anywhere
  Milliseconds limit{0};             // for each collector, if less than the settings' limit; 0: the settings' limit
  int guardian = -1;
  bool must_judge = true;               // a criterion that can no longer be judged is not met
  std::vector<std::string> edited{};    // files edited by a session without a loop
  std::vector<std::string> answered{};  // collectors that answered before: one that is missing now fell silent
  std::string outset{};                 // a file of note_outset(): what the agent hid since is reported, and counts
};

struct Diagnosis {
  diagnostics::Snapshot snapshot;
  std::vector<std::string> unmet{};              // of the criteria
  std::string worst{};                           // the most important findings, one line each
  std::vector<diagnostics::Finding> findings{};  // that violate the criteria
  std::vector<std::string> unavailable{};        // applicable tools that were never installed: their
                                                 // findings are unknown, but do not keep a session going
  std::vector<std::string> answered{};           // the names of the available tools
  std::vector<record::ChangedFile> hiding{};     // files whose change may hide something, if not reported before
};

Result<Diagnosis> diagnose(const DiagnoseOrder& order);

// Fails (kUsage) if a criterion can't be judged here: a tool is missing, or no tool applies.
Status check_criteria(const std::string& project, const Environment& environment,
                      const diagnostics::Criteria& criteria);

// Records the initial state when a loop with criteria begins (checks/diagnostics/outset.h).
Status note_outset(const std::string& path, const std::string& project, const Environment& environment,
                   const diagnostics::Criteria& criteria);

// Every continuation of auto mode begins with this. Some hosts report it as a line typed by the user.
inline constexpr std::string_view kAutoContinueMark = "Ralph Loop: AUTO-CONTINUE";

// The messages of a loop with criteria and of auto mode, for the model and the user.
std::string continue_message(const std::vector<diagnostics::Snapshot>& snapshots, int iteration, int most,
                             const std::string& worst);
std::string auto_continue_message(const diagnostics::Snapshot& now, const std::string& worst);
std::string complete_message(const std::string& session, int iterations,
                             const std::vector<diagnostics::Snapshot>& snapshots);

// The snapshots of a session, in a separate file.
std::vector<diagnostics::Snapshot> load_snapshots(const std::string& path);
Status save_snapshots(const std::string& path, const std::vector<diagnostics::Snapshot>& snapshots);

// Whether the agent says that it is done: <ralph>DONE</ralph>, <jikime>COMPLETE</jikime>, <ralph:done /> and the like,
// alone on a line.
bool has_completion_tag(std::string_view words);

}  // namespace ralph
