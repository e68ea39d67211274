// The sentences that explain the decisions of decide(), including the one shown at the end of a run.
#pragma once

#include <string>

#include "engine/situation.h"

namespace ralph {

std::string what_the_agent_answered(const Situation& c);
std::string stories_phrase(const Situation& c);
std::string lost_repository(const Situation& c);     // its path; empty: it is intact
std::string what_is_held(const Progress& progress);  // what prevents completion although the guardrails passed
std::string what_is_missing(const Situation& c);
std::string what_passed(const Situation& c);
std::string what_failed(const Situation& c);        // among the checks that ran
std::string what_a_stop_lacks(const Situation& c);  // for a session at its limit
std::string why_plan_complete(const Situation& c);
std::string why_complete(const Situation& c);
std::string budget_phrase(const Situation& c);
std::string why_children_end(const Situation& c);    // for a finished task
std::string why_waiting(const Situation& c);         // for a person
std::string why_restarts_spent(const Situation& c);  // for a task
std::string why_restarted(const Situation& c);       // for a task
std::string why_accepted(const Situation& c);        // a promise

}  // namespace ralph
