#include "sandbox/request_text.h"

#include <algorithm>

namespace ralph {

json::object to_json(const SandboxRequest& request) {
  return json_from(request);
}

Result<SandboxRequest> sandbox_request_from(const json::value& value) {
  std::string bad;
  SandboxRequest request = strictly_from<SandboxRequest>(value, bad);
  const SandboxLimits& limits = request.limits;
  const std::initializer_list<long long> numbers = {limits.processes, limits.memory_bytes, limits.cpu_percent,
                                                    request.uid, request.gid};
  if (bad.empty() && std::min(numbers) < 0) bad = "a negative number";
  if (bad.empty()) return request;
  return fail(ErrorKind::kInput, "cannot read the description of a sandbox: {}", bad);
}

}  // namespace ralph
