// From a request to a report: which collectors apply, what they run, and what their output means. `collect` runs all of
// them side by side; the engine takes the same plan one step at a time.
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

// A user's own command that writes SARIF, or lines that a pattern describes (pattern.h).
struct OwnCollector {
  std::string name, command;  // the command is run by sh -c, as it is written in the settings
  std::string pattern{};      // empty: SARIF
  Milliseconds limit{0};      // 0: the request's
};

struct CollectRequest {
  std::vector<std::string> only{};     // names; empty: all that apply
  std::vector<std::string> without{};  // names that are left out
  std::vector<std::string> servers{};  // language servers that are asked though nobody names them
  std::vector<std::string> files{};    // relative to the project; empty: all of it
  bool tests = true;
  bool errors = true, security = true;  // of which kinds
  Milliseconds limit{120'000};          // for each collector
  std::vector<OwnCollector> own{};
  std::string hub{};      // as in Scope
  bool accepted = false;  // as in Scope
  bool caches = false;    // as in Scope: for advice, not for evidence
};

// A collector that applies here. One that can't run has plan.missing.
struct PlannedCollector {
  std::string name;
  Kind kind = Kind::kErrors;
  bool named = false;  // by `only`
  CollectorPlan plan;
  Milliseconds limit{0};
  std::function<ParsedOutput(const ToolOutput&)> parse;
};

// In the order of the table, a user's own last. Names in `only` that no collector has are the caller's to refuse.
std::vector<PlannedCollector> plan_collectors(const ProjectView& project, const CollectRequest& request);

// Every name that --only knows here: the table's and the user's own.
std::vector<std::string> collector_names(const CollectRequest& request);

// Why these criteria can't be judged here, one of a kind: a tool that is missing, or nothing that looks. With what to
// do. Empty: they can.
std::vector<Unjudged> cannot_judge(const Criteria& criteria, std::span<const PlannedCollector> planned);

Launch launch_of(const ToolCommand& command, const Environment& environment);

// What became of one command, however it was run.
struct CommandEnd {
  ToolOutput output;
  bool timed_out = false, interrupted = false;
  std::string not_started{};
  Milliseconds took{0};
  Milliseconds began{0};  // after the same moment for all commands of a collector
};

// Adds what a planned collector said; `ends` has one entry for each of its commands, and none if it could not run.
// Findings outside of `files` (if there are some) are left out, but those of a tool that can't look at single files: an
// edit of one file makes errors in others. A timed-out one keeps what the other commands found.
void add_to(Report& report, const ProjectView& project, const PlannedCollector& planned,
            std::span<const CommandEnd> ends, std::span<const std::string> files);

struct CollectOptions {
  int guardian = -1;
  std::span<const std::string> files{};
  // Besides: launches whose ends the caller judges itself (guardrails), in the same flight.
  std::vector<SideLaunch> others{};
  std::vector<SideEnd>* other_ends = nullptr;
};

// Runs all of them side by side and merges what they say. Fails with kInterrupted if a signal ended it.
Result<Report> collect(const ProjectView& project, std::span<const PlannedCollector> planned,
                       const CollectOptions& options = {});

}  // namespace ralph::diagnostics
