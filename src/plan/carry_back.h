// Brings what a review wrote in its clean checkout into the project.
#pragma once

#include "plan/aftermath.h"
#include "plan/clean_room.h"

namespace ralph {

// Copies tasks.json as the review left it (it is judged in the project like any other), the entries of progress.txt,
// and the agents' memory. What the user has changed in the project meanwhile is not overwritten. All else is dropped,
// and noted in `aftermath`. Returns the paths of what was copied, which ralph has to commit. Doing it again changes
// nothing, until the room is reset.
Result<std::vector<std::string>> carry_back(const CleanRoom& room, PlanRun& plan, const ReviewRules& rules,
                                            Aftermath& aftermath);

}  // namespace ralph
