// The sentences that tell why decide() said what it said. What a person reads at the end of a run is made here.
#pragma once

#include <string>
#include <string_view>

#include "engine/situation.h"

namespace ralph {

std::string what_the_agent_answered(const Situation& c);
std::string stories_phrase(const Situation& c);
std::string lost_repository(const Situation& c);  // its path; empty: it is as it was
std::string what_is_held(const Situation& c);     // what stands against the end although the guardrails passed
std::string what_is_missing(const Situation& c);
std::string what_passed(const Situation& c);
std::string what_failed(const Situation& c);        // of checks that have run
std::string what_a_stop_lacks(const Situation& c);  // of a session at its limit
std::string why_plan_complete(const Situation& c);
std::string why_complete(const Situation& c);
std::string budget_phrase(const Situation& c);
std::string why_children_end(const Situation& c);    // of a task that is done
std::string why_waiting(const Situation& c);         // for a person
std::string why_restarts_spent(const Situation& c);  // of a task
std::string why_restarted(const Situation& c);       // the same
std::string why_accepted(const Situation& c);        // a promise

}  // namespace ralph
