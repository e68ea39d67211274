// Plan records as text, for the console and `ralph runs show`.
#pragma once

#include <string>

#include "journal/records.h"

namespace ralph {

std::string plan_work_text(const record::PlanWork& work);           // "review US-001: A title (review 2 of at most 5)"
std::string plan_outcome_text(const record::PlanChecked& checked);  // "US-001 approved; 2 of 5 stories done"

}  // namespace ralph
