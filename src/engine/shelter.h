// What shuts the programs of a run in: every step's launch passes through it, so that none can be forgotten.
#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"
#include "journal/records.h"
#include "os/launch.h"

namespace ralph {

class Shelter {
 public:
  virtual ~Shelter() = default;

  // The launch of a step of this kind, shut in.
  virtual Result<Launch> enclose(StepKind kind, Launch launch) = 0;

  // How long what the step wrote may take to arrive here. settle() is called after that, or when nobody waits any more.
  virtual Milliseconds settling_time() const { return Milliseconds(0); }

  // Called when a step has ended: puts away what it must not leave, and returns what there is to tell. `forced`: ralph
  // ended it.
  virtual Result<record::SandboxNoted> settle(bool forced) = 0;

  // One line: what is in force.
  virtual std::string describe() const = 0;
};

}  // namespace ralph
