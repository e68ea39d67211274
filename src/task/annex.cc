#include "task/annex.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "journal/writer.h"
#include "task/bus.h"
#include "task/task_mounts.h"

namespace ralph {
namespace {

// The supervisor writes and trusts these. The buses are synchronized separately.
constexpr std::array<std::string_view, 9> kOwn = {"runs",          "supervisor.lock", "task.yaml",
                                                  "jobs.sock",     "receipt.json",    "receipt.md",
                                                  kTaskMachineLog, kTaskBus,          kTaskEgressLog};
// The files of an attempt that the next one's prompt refers to.
constexpr std::array<std::string_view, 3> kSharedOfAttempts = {"output.md", "prompt.md", "run-info.yaml"};

bool is_own(std::string_view name) {
  return is_one_of(name, kOwn) || name == kJournalFile || name.starts_with("guardrail_") ||
         name.starts_with("setup_") || name.ends_with(".ralph-part");
}

// The rest of "TASK/rest" ("rest/" for a folder); empty if the path is not in this task.
std::string_view within(std::string_view path, std::string_view task) {
  if (path.size() <= task.size() + 1 || !path.starts_with(task) || path[task.size()] != '/') return {};
  return path.substr(task.size() + 1);
}

}  // namespace

bool may_machine_write(std::string_view path, const AnnexPlace& place) {
  if (path == place.task + "/") return true;  // its folder
  const std::string_view rest = within(path, place.task);
  return !rest.empty() && !is_own(rest.substr(0, rest.find('/')));
}

bool is_shared_with_machine(std::string_view path, const AnnexPlace& place) {
  if (may_machine_write(path, place)) return true;
  const std::string_view rest = within(path, place.task);
  if (rest == "runs/") return true;
  if (rest.starts_with("runs/")) {
    const std::string_view of_attempt = rest.substr(5);
    const size_t slash = of_attempt.find('/');
    return slash != std::string_view::npos &&
           (slash + 1 == of_attempt.size() || is_one_of(of_attempt.substr(slash + 1), kSharedOfAttempts));
  }
  return std::ranges::any_of(place.depends, [&](const std::string& task) {
    const std::string_view other = within(path, task);
    return path == task + "/" || (!other.empty() && !is_own(other.substr(0, other.find('/'))));
  });
}

}  // namespace ralph
