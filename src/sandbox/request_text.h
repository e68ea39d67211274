// A request for a sandbox as JSON: how the supervisor of a task tells the process of a child run which sandbox is its.
#pragma once

#include <string_view>

#include "json/value.h"
#include "sandbox/plan.h"

namespace ralph {

json::object to_json(const SandboxRequest& request);

// Fails if anything is missing: a sandbox that is not the whole one is none.
Result<SandboxRequest> sandbox_request_from(const json::value& value);

}  // namespace ralph
