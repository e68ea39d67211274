// The firing range for `ralph sandbox check`: a scratch project with its home, listeners and a victim process. Attacks
// run one by one, each in its own sandbox.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/environment.h"
#include "os/files.h"
#include "sandbox/attacks.h"
#include "sandbox/enclosure.h"

namespace ralph::cli {

inline constexpr int kAttackStopped = 10, kAttackThrough = 11;  // exit codes of `ralph sandbox attack`

struct AttackResult {
  const Attack* attack;
  bool through = false;
  std::string how;
};

std::vector<const Attack*> all_attacks();

class AttackRange {
 public:
  // Fails if no sandbox can be created here. `direct`: use none.
  static Result<std::unique_ptr<AttackRange>> set_up(bool direct);
  AttackRange(const AttackRange&) = delete;
  AttackRange& operator=(const AttackRange&) = delete;
  ~AttackRange();

  Result<AttackResult> run(const Attack& attack);
  std::string limits() const { return direct_ ? "no limits" : enclosure_.group.describe(); }

 private:
  AttackRange() = default;
  Status listen();
  Status start_victim();
  Status fresh_project();
  void end_victim();
  Result<SandboxPlan> plan_for(const std::string& project) const;
  Launch launch_in(const std::string& folder, std::vector<std::string> words) const;
  bool harms(const Attack& attack, const std::string& folder) const;

  bool direct_ = false;
  std::string base_;
  AttackPlace place_;
  Environment environment_;
  std::string helper_;
  Enclosure enclosure_;
  Fd tcp_, udp_, unix_, abstract_;
};

}  // namespace ralph::cli
