#include "sandbox/enclosure.h"

#include <unistd.h>

#include "base/text.h"
#include "os/run_command.h"
#include "sandbox/places.h"
#include "sandbox/seccomp.h"

namespace ralph {
namespace {

constexpr Milliseconds kPatience{20'000};

}  // namespace

Result<std::string> program_outside(const std::string& name, const Environment& environment,
                                    const std::string& project) {
  const auto program = resolve_program(name, with_project_last(environment, project), project);
  if (!program) return fail(ErrorKind::kNotFound, "{} is not installed", name == "bwrap" ? "bubblewrap (bwrap)" : name);
  if (!real_path(*program).starts_with(real_path(project) + "/") && !program->starts_with(project + "/"))
    return *program;
  return fail(
      ErrorKind::kNotFound,
      "{} is found only in the project ({}), where an agent could have put it; install it outside of the project", name,
      *program);
}

Result<Enclosure> Enclosure::make(const SandboxLimits& limits, const Environment& environment,
                                  const std::string& folder, const std::vector<std::string>& groups) {
  Enclosure made;
  TRY_VALUE(made.bubblewrap.program, program_outside("bwrap", environment, folder));
  TRY_VALUE(made.bubblewrap.seccomp, seccomp_program());
  const bool is_root = ::geteuid() == 0;
  made.group = groups.empty() ? ResourceGroup::make(limits, is_root) : ResourceGroup::shared(limits, groups, is_root);
  made.bubblewrap.groups = made.group.files();
  made.bubblewrap.limits = made.group.inside();
  return made;
}

Status Enclosure::try_out(const SandboxPlan& plan, const Environment& environment) const {
  Launch launch;
  launch.argv = {"/bin/true"};
  launch.environment = environment;
  launch.folder = plan.folder;
  SandboxPlan alone = plan;  // without the proxy, which may not be running yet
  if (alone.network == Network::kAllowlist) {
    alone.network = Network::kNone;
    std::erase_if(alone.mounts, [](const Mount& mount) { return mount.at == kSocketInside; });
  }
  TRY_VALUE(const CommandResult ran, run_command(inside(alone, std::move(launch)), kPatience));
  if (ran.exit_code == 0) return {};
  std::string why(first_line(ran.output));
  if (why.find("disable-userns") != std::string::npos) why += " (bubblewrap 0.8 or later is needed)";
  if (why.find("uid map") != std::string::npos || why.find("No permissions to create") != std::string::npos)
    why += " (this system does not let users make namespaces: allow bwrap to, or run ralph where they may)";
  return fail(ErrorKind::kNotFound, "bubblewrap can't create a sandbox here: {}", why.empty() ? "it failed" : why);
}

}  // namespace ralph
