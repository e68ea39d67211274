// From a request to a report: which collectors apply, what they run, and what their output means. `collect` runs all of
// them in parallel; the engine executes the same plan one step at a time.
//
//   const ProjectView project(root, environment, exclude);
//   const auto planned = plan_collectors(project, request);
//   const Report report = collect(project, planned, {.guardian = fd});
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "checks/diagnostics/collector.h"
#include "checks/diagnostics/report.h"
#include "checks/diagnostics/snapshot.h"
#include "os/side_by_side.h"

namespace ralph::diagnostics {

// A user-defined command that prints SARIF, or lines that a pattern describes (pattern.h).
struct OwnCollector {
  std::string name, command;  // the command is run with sh -c, exactly as in the settings
  std::string pattern{};      // empty: SARIF
  Milliseconds limit{0};      // 0: the request's
};

struct CollectRequest {
  std::vector<std::string> only{};     // names; empty: all that apply
  std::vector<std::string> without{};  // names to leave out
  std::vector<std::string> servers{};  // language servers to ask even if not named
  std::vector<std::string> files{};    // relative to the project; empty: all of it
  bool tests = true;
  bool errors = true, security = true;  // which kinds
  Milliseconds limit{120'000};          // for each collector
  std::vector<OwnCollector> own{};
  std::string hub{};      // as in Scope
  bool accepted = false;  // as in Scope
  bool caches = false;    // as in Scope: for advice, not for evidence
};

// A collector that applies here. If it can't run, plan.missing says why.
struct PlannedCollector {
  std::string name;
  Kind kind = Kind::kErrors;
  bool named = false;  // by `only`
  CollectorPlan plan;
  Milliseconds limit{0};
  std::function<ParsedOutput(const ToolOutput&)> parse;
};

// In table order, user-defined ones last. The caller must reject names in `only` that no collector has.
std::vector<PlannedCollector> plan_collectors(const ProjectView& project, const CollectRequest& request);

// Every name that --only accepts here: the table's and the user-defined ones.
std::vector<std::string> collector_names(const CollectRequest& request);

// Why these criteria can't be judged here, at most one reason per kind: a missing tool, or no collector for it.
// Includes what to do. Empty if they can.
std::vector<Unjudged> cannot_judge(const Criteria& criteria, std::span<const PlannedCollector> planned);

Launch launch_of(const ToolCommand& command, const Environment& environment);

// The outcome of one command, however it was run.
struct CommandEnd {
  ToolOutput output;
  bool timed_out = false, interrupted = false;
  std::string not_started{};
  Milliseconds took{0};
  Milliseconds began{0};  // start time, relative to the same moment for all commands of a collector
};

// Adds the results of a planned collector; `ends` has one entry for each of its commands, and none if it could not run.
// If `files` is not empty, findings outside it are dropped, except those of tools that can't check single files: an
// edit of one file causes errors in others. After a timeout, the findings of the other commands are kept.
void add_to(Report& report, const ProjectView& project, const PlannedCollector& planned,
            std::span<const CommandEnd> ends, std::span<const std::string> files);

struct CollectOptions {
  int guardian = -1;
  std::span<const std::string> files{};
  // Additional launches that run in parallel and whose outcome the caller judges itself (guardrails).
  std::vector<SideLaunch> others{};
  std::vector<SideEnd>* other_ends = nullptr;
};

// Runs all of them in parallel and merges the results. Fails with kInterrupted if a signal ended it.
Result<Report> collect(const ProjectView& project, std::span<const PlannedCollector> planned,
                       const CollectOptions& options = {});

}  // namespace ralph::diagnostics
