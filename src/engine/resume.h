// Going on with a run that ended incomplete: from its journal alone.
//
//   TRY_VALUE(const ResumePoint point, read_resume_point(folder, seal));   // or why it can't be resumed
//   TRY_VALUE(Run run, Run::open(folder, policy, parts));
//   TRY(close_killed_attempt(run, agents, events, last_sign));  // after run_resumed was noted
//   drive(run, way);                                                       // goes on in the iteration that was open
#pragma once

#include <string>
#include <vector>

#include "engine/attempts.h"

namespace ralph {

// The state of a run that is to be resumed.
struct ResumePoint {
  RunFolder folder;
  record::RunStarted start;
  std::vector<std::vector<std::string>> arguments;  // of the command that started it and of those that resumed it
  std::string typed_in;                             // where the last of these was typed, as far as it is known
  bool masked = false;                              // a secret in the last of these was masked
  json::value settings;                             // as last read
  Progress progress;
  WallTime began{};
};

// The way in of a run; kUnknown if its journal can't be read.
WayIn way_of(const RunFolder& folder);

// Errors are of kind kUsage and say why it can't be resumed: it is complete, a session loop, damaged, of a newer
// version of ralph. `seal`: the hash of a record that was known to be there, from outside the project; empty: unknown.
// A journal with more records is as good; one that does not lead to that record was changed and is not believed.
Result<ResumePoint> read_resume_point(const RunFolder& folder, const std::string& seal);

// Fails if the run has reached one of these limits, and names the option that raises it.
Status check_limits(const ResumePoint& point, const Policy& policy);

// The command that goes on with a run, as it can be typed where this process was started.
std::string command_to_go_on(const std::string& project, const std::string& id);

// The same for a run that ends now, with the options that raise the limits it has reached; empty if there is nothing to
// go on with.
std::string resume_command(const Run& run, StopStatus status);

// When the run's last process was last heard of: its last record, or the last output of its agent if that is later.
WallTime last_sign_of_life(const Run& run);

// Records the end of an agent's attempt that was killed with ralph, with its session and what it used, as far as its
// stream tells. `agents`: all that the run may start; `events`: whether they were asked for streams of events; `until`:
// the last sign of life.
Status close_killed_attempt(Run& run, Agents agents, bool events, WallTime until);

}  // namespace ralph
