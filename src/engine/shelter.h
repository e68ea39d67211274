// The sandbox of a run's programs. Every step's launch passes through it, so none can be missed.
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

  // The sandboxed launch of a step of this kind.
  virtual Result<Launch> enclose(StepKind kind, Launch launch) = 0;

  // How long the files that a step wrote may take to arrive here. settle() is called after that time, or once the wait
  // is aborted.
  virtual Milliseconds settling_time() const { return Milliseconds(0); }

  // Called when a step has ended: removes files that it must not leave behind, and returns what to report. `forced`:
  // ralph ended the step.
  virtual Result<record::SandboxNoted> settle(bool forced) = 0;

  // One line that describes the active sandbox.
  virtual std::string describe() const = 0;
};

}  // namespace ralph
