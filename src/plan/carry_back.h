// Copies the results of a review from its clean checkout into the project.
#pragma once

#include "plan/aftermath.h"
#include "plan/clean_room.h"

namespace ralph {

// Copies tasks.json as the review left it (it is judged in the project like any other), the new entries of
// progress.txt, and the agents' memory files. The user's concurrent changes in the project are not overwritten. All
// other changes are dropped, and noted in `aftermath`. Returns the paths of the copied files, which ralph must commit.
// Idempotent until the room is reset.
Result<std::vector<std::string>> carry_back(const CleanRoom& room, PlanRun& plan, const ReviewRules& rules,
                                            Aftermath& aftermath);

}  // namespace ralph
