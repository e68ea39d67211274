// How counts, times, checks and plans are said, for the console and `ralph runs show`.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "journal/records.h"

namespace ralph {

std::string human_count(std::int64_t count);  // 999, 1.2K, 45K, 850K, 1.2M

// In local time.
std::string time_of_day(WallTime time);             // 20:22:33
std::string moment(WallTime time, WallTime today);  // 20:22, or 2026-11-16 20:22 on another day

// The details of a check's end beyond its outcome: "12 tests, 1 skipped", "flaky: it failed before it passed on try 2".
// May be empty.
std::string check_facts(const record::GuardrailEnded& ended);

std::string plan_work_text(const record::PlanWork& work);           // "review US-001: A title (review 2 of at most 5)"
std::string plan_outcome_text(const record::PlanChecked& checked);  // "US-001 approved; 2 of 5 stories done"

}  // namespace ralph
