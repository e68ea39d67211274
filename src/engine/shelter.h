// What shuts the programs of a run in: every step's launch passes through it, so that none can be forgotten.
#pragma once

#include <string>

#include "base/result.h"
#include "journal/records.h"
#include "os/launch.h"

namespace ralph {

class Shelter {
 public:
  virtual ~Shelter() = default;

  // The launch of a step of this kind, shut in.
  virtual Result<Launch> enclose(StepKind kind, Launch launch) = 0;

  // Called when a step has ended: puts away what it must not leave, and returns what there is to tell.
  virtual Result<record::SandboxNoted> settle() = 0;

  // One line: what is in force.
  virtual std::string describe() const = 0;
};

}  // namespace ralph
