#include "cli/run_servers.h"

#include "base/text.h"
#include "os/files.h"

namespace ralph::cli {
namespace {

// The names of the servers that the criteria need.
std::vector<std::string> asked_by(const Policy& policy) {
  if (!policy.has_criteria()) return {};
  const CriteriaSettings& criteria = *policy.diagnostics.criteria;
  if (!criteria.zero_errors && !criteria.zero_warnings && !criteria.zero_security) return {};
  std::vector<std::string> names = policy.diagnostics.language_servers;
  std::erase_if(names, [&](const std::string& name) { return is_one_of(name, policy.diagnostics.exclude); });
  return names;
}

}  // namespace

Status RunServers::start(const RunServersOrder& order, Jobs& jobs) {
  const std::vector<std::string> names = asked_by(order.policy);
  if (names.empty() || order.in_machine) return {};
  TRY_VALUE(const std::string self, path_of_this_program());
  TRY_VALUE(helper_socket_, open_helper_socket("lsp"));
  JobRequest job;
  job.name = "language servers";
  job.launch.argv = {self, "lsp", "serve"};
  for (const std::string& name : names) job.launch.argv.insert(job.launch.argv.end(), {"--server", name});
  job.launch.environment = order.environment;
  job.launch.folder = order.project;
  if (order.shelter) {
    TRY_VALUE(job.launch, order.shelter->enclose(StepKind::kGuardrail, std::move(job.launch)));
  }
  job.in.fd = helper_socket_.listener.get();
  TRY(jobs.start(job));
  helper_socket_.listener.close();  // only the job has it, so nobody waits for the answer of a job that has ended
  return {};
}

}  // namespace ralph::cli
