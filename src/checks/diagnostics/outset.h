// How things stood when a loop began that decide what its diagnostics find: the programs that are asked, the files that
// configure them, and the files that they looked at. An agent can change all of these, and its errors would be gone.
//
//   Outset outset = outset_of(project, planned);                        // once, before the agent
//   ProjectView now(root, environment, exclude, outset.trusted());      // later
//   const SinceThen since = look_for_hiding(outset, now, planned, "run");
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
  std::map<std::string, std::vector<std::string>> tools;  // by collector: the programs that it starts
  std::map<std::string, std::string> configuration;       // of tools, by path: hashes
  std::vector<std::string> generated;                     // sorted: the files that said that a program wrote them
  std::vector<std::string> judged;     // sorted: tracked sources, and files in which something was found since
  std::vector<std::string> ignored;    // sorted: tracked, and named by a file that ignores others
  std::vector<std::string> committed;  // sorted: of `configuration`, what git tracks
  int tests = 0;                       // that ran when all of them could first be counted; 0: not known
  FileTimes times;                     // of the sources of tools that go by them
  std::vector<std::string> reported;   // what was reported already

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
struct HidingFile {
  std::string path;  // in the project
  std::string what;  // "changed", "made", "deleted", "marked as generated", "hidden from the tools"
  std::string note;  // "ruff reads it"
};

struct SinceThen {
  std::vector<HidingFile> changed;  // that `outset.told` did not have; now it has
  std::vector<Unjudged> unjudged;   // files that were judged before, and that nothing looks at now; tools that were
                                    // asked before, and that nothing makes apply now
};

// Compares, and remembers in `outset` what is told now. A planned collector whose program is another one
// than when the `loop` ("run") began gets plan.missing. `project` may be a checkout of the project elsewhere (`room`).
SinceThen look_for_hiding(Outset& outset, const ProjectView& project, std::vector<PlannedCollector>& planned,
                          std::string_view loop, bool room = false);

// Whether fewer tests ran than in the first report of the loop whose tests could be counted: those that are missing may
// fail. Before remember_found().
std::optional<Unjudged> fewer_tests(const Outset& outset, const Report& report, std::string_view loop);

// A file in which something was found is not left out for being ignored later, and the tests that ran are counted.
void remember_found(Outset& outset, const Report& report);

// When the tools have run, in the project itself: what they made of its files is not older than now.
void remember_times(Outset& outset, const ProjectView& project, std::span<const PlannedCollector> planned);

// The same as look_for_hiding for a session without a loop, where nothing is known of before but what it edited.
std::vector<HidingFile> hiding_among(std::span<const std::string> edited, const ProjectView& project,
                                     std::span<const PlannedCollector> planned);

}  // namespace ralph::diagnostics
