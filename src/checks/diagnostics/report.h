// The combined results of all collectors at one moment: the basis of `ralph check`, of snapshots and of what an agent
// is shown. Specified in docs/formats/diagnostics.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "checks/diagnostics/finding.h"
#include "json/value.h"

namespace ralph::diagnostics {

// Findings of category kTest count only in `failing_tests`; security findings count only in `security`.
struct Summary {
  int errors = 0, warnings = 0, infos = 0, security = 0, failing_tests = 0;
  bool operator==(const Summary&) const = default;
};

struct Report {
  std::vector<CollectorResult> collectors;  // in table order
  std::vector<Finding> findings;            // merged, worst first

  Summary summary() const;
  TestCounts tests() const;                                  // over all collectors
  const CollectorResult* find(std::string_view name) const;  // nullptr if it did not run

  // Adds the results of another collector. Call merge() once all have been added.
  void add(CollectorResult result, std::vector<Finding> found);

  // Drops findings outside these files and folders of the project; if `paths` is empty, all are kept. Findings without
  // a file are always kept.
  void keep_below(std::span<const std::string> paths);

  // Merges findings at the same file and line with the same rule or message: the worst severity counts, the first tool
  // keeps the finding, and the others are in `also`. Sorts worst first.
  void merge();
};

// Replaces the findings about these files with those of `newer`; collectors that are not in `newer` are kept as they
// were. A report on some files is never added to one on all files.
Report replaced(Report older, const Report& newer, std::span<const std::string> files);

json::object to_json(const Report& report);  // as `ralph check --json` prints it

// "src/a.py:3:5: error: undefined name 'x' (F821, ruff)"
std::string line_of(const Finding& finding);

// The first `most` findings for an agent or a person, one line each, and "… and 7 more" if there are more.
std::string worst_of(std::span<const Finding> findings, size_t most);

// "3 errors, 1 security issue, 2 warnings, 4 failing tests"; "nothing found".
std::string in_words(const Summary& summary);

}  // namespace ralph::diagnostics
