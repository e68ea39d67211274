#include "plan/custody.h"

#include "os/environment.h"
#include "os/files.h"
#include "plan/authority.h"

namespace ralph {

Result<PlanCustody> take_plan(const PlanFiles& files) {
  PlanCustody custody;
  const auto path = authority_path(Environment::of_this_process(), files.ralph_dir);
  if (!path || !is_directory(parent_path(*path))) return custody;  // there was never a run
  custody.authority = *path;
  TRY_VALUE(custody.lock, lock_plan(*path, files.ralph_dir));
  return custody;
}

}  // namespace ralph
