// `ralph loop run`, for hosts without hooks: one agent session driven from outside, each turn resuming the last.
// Contract, promise and rules are the same as inside a session.
#pragma once

#include "engine/way.h"
#include "session/loop_request.h"

namespace ralph {

class OutsideWay : public Way {
 public:
  // All arguments must outlive the way. `agent` must be able to resume a session.
  OutsideWay(const Run& run, const Agent& agent, const LoopRequest& request, bool events)
      : run_(run), agent_(agent), request_(request), events_(events) {}

  Result<NextTurn> next() override;
  Result<IterationChecks> checks() override;
  Result<Observation> observe() override;

 private:
  bool is_promised() const;

  const Run& run_;
  const Agent& agent_;
  const LoopRequest& request_;
  bool events_;
};

}  // namespace ralph
