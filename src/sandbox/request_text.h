// A sandbox request as JSON: the supervisor of a task passes it to the process of a child run.
#pragma once

#include "json/value.h"
#include "sandbox/plan.h"

namespace ralph {

json::object to_json(const SandboxRequest& request);

// Fails if anything is missing: an incomplete sandbox is no sandbox.
Result<SandboxRequest> sandbox_request_from(const json::value& value);

}  // namespace ralph
