// `ralph loop run`: one session of an agent, driven from outside, turn by turn, each resuming the session of the one
// before; for hosts without hooks. The same contract, the same promise, the same rules as inside a session.
#pragma once

#include "engine/way.h"
#include "session/loop_request.h"

namespace ralph {

class OutsideWay : public Way {
 public:
  // All of it outlives the way. `agent` must be able to resume a session.
  OutsideWay(const Run& run, const Agent& agent, const LoopRequest& request, bool events)
      : run_(run), agent_(agent), request_(request), events_(events) {}

  Result<NextTurn> next() override;
  Result<Observation> observe() override;

 private:
  const Run& run_;
  const Agent& agent_;
  const LoopRequest& request_;
  bool events_;
};

}  // namespace ralph
