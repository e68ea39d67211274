// Renders a plan for people and as JSON.
#pragma once

#include <string>

#include "json/value.h"
#include "sandbox/plan.h"

namespace ralph {

json::object to_json(const SandboxPlan& plan);
std::string describe(const SandboxPlan& plan);  // several lines

}  // namespace ralph
