// Counts how often in a row the Stop hook has sent an agent back to its plan. Stored next to ralph's own copy, so the
// count survives a change of session. decide() decides whether to object again.
#pragma once

#include <string>

#include "os/environment.h"
#include "plan/project_check.h"

namespace ralph {

class Objections {
 public:
  // The count of the plan's current iteration, or of `session` if no iteration is known.
  Objections(const Environment& environment, const ProjectCheck& plan, const std::string& session);

  int count() const;
  void add() const;
  void forget() const;  // call when the plan has no problems

 private:
  std::string file_, whose_;
};

}  // namespace ralph
