// Resumes a run that ended incomplete, from its journal alone.
//
//   TRY_VALUE(const ResumePoint point, read_resume_point(folder, seal));  // or why it can't be resumed
//   TRY_VALUE(Run run, Run::open(folder, policy, parts));
//   TRY(close_killed_attempt(run, agents, events, last_sign));           // after run_resumed was noted
//   drive(run, way);                                                      // continues the open iteration
#pragma once

#include <string>
#include <vector>

#include "engine/attempts.h"

namespace ralph {

// The state of a run that is to be resumed.
struct ResumePoint {
  RunFolder folder;
  record::RunStarted start;
  std::vector<std::vector<std::string>> arguments;  // of the command that started it and of each that resumed it
  std::string typed_in;                             // the folder in which the last of these was typed, if known
  bool masked = false;                              // a secret in the last of these was masked
  json::value settings;                             // as last read
  Progress progress;
  WallTime began{};
};

// The entry point of a run; kUnknown if its journal can't be read.
WayIn way_of(const RunFolder& folder);

// Errors are of kind kUsage and say why the run can't be resumed: it is complete, a session loop, damaged, or written
// by another version of ralph. `seal`: the hash of a record known to be in the journal, kept outside the project;
// empty: unknown. The journal may have records after that one. If the record is missing, the journal was tampered with
// and is rejected.
Result<ResumePoint> read_resume_point(const RunFolder& folder, const std::string& seal);

// Fails if the run has reached one of these limits, and names the option that raises it.
Status check_limits(const ResumePoint& point, const Policy& policy);

// The command that resumes a run, as it can be typed in the folder where this process was started.
std::string command_to_continue(const std::string& project, const std::string& id);

// The same for a run that ends now, with the options that raise the limits it has reached; empty if there is nothing to
// resume.
std::string resume_command(const Run& run, StopStatus status);

// The time of the run's last record, or of its agent's last output if that is later.
WallTime last_sign_of_life(const Run& run);

// Records the end of an attempt that was killed together with ralph, with its session and usage as far as its stream
// shows them. `agents`: all that the run may start; `events`: whether they were asked for event streams; `until`: the
// last sign of life.
Status close_killed_attempt(Run& run, Agents agents, bool events, WallTime until);

}  // namespace ralph
