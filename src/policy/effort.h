// How much work a decision has cost so far, and whether that is enough. Whoever looks at commands, texts or paths pays
// for it, so that no line can make a decision take more than a fixed amount of work, whatever it repeats; and there is
// a time at which the decision is due. What could not be looked at by then is denied.
#pragma once

#include <cstddef>
#include <functional>

namespace ralph {

class Effort {
 public:
  // About one unit per command looked at, or per 16 bytes copied or searched.
  static constexpr size_t kMost = 800'000;

  explicit Effort(std::function<bool()> is_late = {}, size_t most = kMost)
      : is_late_(std::move(is_late)), most_(most) {}

  void spend(size_t units) {
    spent_ += units;
    if (spent_ < next_look_ || is_over_) return;
    next_look_ = spent_ + kBetweenLooks;
    is_over_ = spent_ > most_ || (is_late_ && is_late_());
  }
  void spend_bytes(size_t bytes) { spend(1 + bytes / 16); }

  void give_up() { is_over_ = true; }  // the rest is too large to be looked at

  size_t spent() const { return spent_; }
  bool is_over() const { return is_over_; }  // nothing more should be looked at

 private:
  static constexpr size_t kBetweenLooks = 1000;  // a look at the clock costs as much as some units

  std::function<bool()> is_late_;
  size_t most_, spent_ = 0, next_look_ = kBetweenLooks;
  bool is_over_ = false;
};

}  // namespace ralph
