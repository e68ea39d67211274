// The initial state, recorded when a loop begins, of everything that decides what its diagnostics find: the programs
// that run, the files that configure them, and the files they check. An agent could change any of these to make its
// errors disappear.
//
//   Outset outset = outset_of(project, planned);                        // once, before the agent
//   ProjectView now(root, environment, exclude, outset.trusted());      // later
//   const OutsetChanges since = compare_with_outset(outset, now, planned, "run");
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checks/diagnostics/collect.h"
#include "checks/diagnostics/set_back.h"

namespace ralph::diagnostics {

struct Outset {
  bool taken = false;
  std::map<std::string, std::string> programs;            // in the project, by path: their stamps and hashes
  std::map<std::string, std::vector<std::string>> tools;  // by collector: the programs it starts
  std::map<std::string, std::string> configuration;       // of tools, by path: hashes
  std::vector<std::string> generated;                     // sorted: files marked as generated
  std::vector<std::string> judged;                        // sorted: tracked sources, and files with findings since then
  std::vector<std::string> ignored;                       // sorted: tracked files that an ignore file names
  std::vector<std::string> committed;                     // sorted: the part of `configuration` that git tracks
  int tests = 0;                                          // that ran when all could first be counted; 0: unknown
  FileTimes times;                                        // of the sources of tools that rely on them
  std::vector<std::string> reported;                      // already reported changes

  template <class V>
  void fields(V&& v) {
    v("taken", taken), v("programs", programs), v("tools", tools), v("configuration", configuration);
    v("generated", generated), v("judged", judged), v("ignored", ignored), v("committed", committed);
    v("tests", tests), v("times", times), v("told", reported);
  }
  TrustedFiles trusted() const { return {taken, generated, judged}; }
};

Outset outset_of(const ProjectView& project, std::span<const PlannedCollector> planned);

// A file whose change may hide something.
struct SuspectFile {
  std::string path;  // in the project
  std::string what;  // "changed", "created", "deleted", "marked as generated", "hidden from the tools"
  std::string note;  // "ruff reads it"
};

struct OutsetChanges {
  std::vector<SuspectFile> changed;  // that were not in `outset.reported` before; now they are
  std::vector<Unjudged> unjudged;    // files that were judged before but are not checked now; tools
                                     // that were asked before but do not apply now
};

// Compares with the initial state, and records in `outset` what is reported now. A planned collector whose program is
// not the one from the start of the `loop` ("run") gets plan.missing. `project` may be a checkout of the project
// elsewhere (`room`).
OutsetChanges compare_with_outset(Outset& outset, const ProjectView& project, std::vector<PlannedCollector>& planned,
                                  std::string_view loop, bool room = false);

// Whether fewer tests ran than in the loop's first report whose tests could be counted: the missing ones may fail. Call
// before remember_found().
std::optional<Unjudged> fewer_tests(const Outset& outset, const Report& report, std::string_view loop);

// Files with findings can't be hidden by ignoring them later. Also records the number of tests, if all could be counted
// for the first time.
void remember_found(Outset& outset, const Report& report);

// Call after the tools have run in the project itself: their outputs are at least as recent as now.
void remember_times(Outset& outset, const ProjectView& project, std::span<const PlannedCollector> planned);

// Like compare_with_outset, for a session without a loop, where nothing is known about earlier states except what the
// session edited.
std::vector<SuspectFile> suspects_among(std::span<const std::string> edited, const ProjectView& project,
                                        std::span<const PlannedCollector> planned);

}  // namespace ralph::diagnostics
