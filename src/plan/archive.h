// Puts a finished (or given up) plan away: ralph-archive/<date>-<branch or label>/ gets prd.md, tasks.json,
// progress.txt and a summary.md, ralph/ gets fresh templates, and git a commit of exactly that. prompt.md stays: it is
// the user's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "git/repository.h"
#include "plan/plan_files.h"

namespace ralph {

struct ArchiveRequest {
  PlanFiles files;
  std::string label;  // empty: the plan's branch
  WallTime now{};
  Git git;                // in the project
  std::string authority;  // ralph's own copy of the plan, which goes with it; empty: there can be none
};

struct PlanArchive {
  std::string folder;              // absolute
  std::vector<std::string> files;  // what was put there: names, summary.md last
  size_t done = 0, total = 0;      // stories
  std::string problem;             // of tasks.json; empty: it was in order
  bool committed = false;
  std::string why_not_committed;
};

// Copies, reads the copies back, and only then resets and commits: whatever fails, the plan is in ralph/ or in the
// archive, and the error says which. A plan that nobody has written yet is not archived. tasks.json may be missing or
// broken.
Result<PlanArchive> archive_plan(const ArchiveRequest& request);

// The name of the folder: what is not a letter, a digit, '.', '_' or '-' becomes '-'; no leading dots; never empty.
// Pure.
std::string archive_name(std::string_view date, std::string_view label);

}  // namespace ralph
