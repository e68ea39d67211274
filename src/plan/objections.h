// How often in a row the Stop hook has sent an agent back to its plan: kept beside ralph's own copy, where the agent's
// session does not matter. Whether it may be sent back again is decide()'s.
#pragma once

#include <string>

#include "os/environment.h"
#include "plan/project_check.h"

namespace ralph {

class Objections {
 public:
  // Of the iteration that `plan` is in; of `session` where no iteration is known.
  Objections(const Environment& environment, const ProjectCheck& plan, const std::string& session);

  int count() const;
  void add() const;
  void forget() const;  // the plan is in order

 private:
  std::string file_, whose_;
};

}  // namespace ralph
