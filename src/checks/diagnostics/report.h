// What all collectors said at one moment: the value behind `ralph check`, behind a snapshot and behind what an agent is
// told. Specified in docs/formats/diagnostics.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "checks/diagnostics/finding.h"
#include "json/value.h"

namespace ralph::diagnostics {

// Findings of category kTest are in none of these but `failing_tests`; security findings count only as such.
struct Summary {
  int errors = 0, warnings = 0, infos = 0, security = 0, failing_tests = 0;
  bool operator==(const Summary&) const = default;
};

struct Report {
  std::vector<CollectorResult> collectors;  // in the order of the table of collectors
  std::vector<Finding> findings;            // merged, the worst first

  Summary summary() const;
  TestCounts tests() const;                                  // over all collectors
  const CollectorResult* find(std::string_view name) const;  // nullptr: it did not run

  // Takes over what another collector said. Call merge() when all are in.
  void add(CollectorResult result, std::vector<Finding> found);

  // Leaves out findings outside of these files and folders of the project; none: all stay. Those of no file stay.
  void keep_below(std::span<const std::string> paths);

  // Makes one finding of those at the same file and line with the same rule or message: the worst severity counts, the
  // first tool keeps it, the others are in `also`. Sorts the worst first.
  void merge();
};

// Replaces what was said about these files by what `newer` says about them; collectors that `newer` does not have stay
// as they were. A report of some files is never added to one of all files.
Report replaced(Report older, const Report& newer, std::span<const std::string> files);

json::object to_json(const Finding& finding);
json::object to_json(const CollectorResult& result);
json::object to_json(const Report& report);  // as `ralph check --json` prints it

// "src/a.py:3:5: error: undefined name 'x' (F821, ruff)"
std::string line_of(const Finding& finding);

// The worst `most` findings for an agent or a person, one line each, and "… and 7 more" if there are more. `looked_at`
// chooses those that matter.
std::string worst_of(std::span<const Finding> findings, size_t most);

// "3 errors, 1 security issue, 2 warnings, 4 failing tests"; "nothing found".
std::string in_words(const Summary& summary);

}  // namespace ralph::diagnostics
