// Limits the work spent on one decision. All code that examines commands, texts or paths pays for it here, so that no
// command line, however repetitive, can cost more than a fixed amount of work. There is also a deadline. Anything not
// examined by then is denied.
#pragma once

#include <cstddef>
#include <functional>

namespace ralph {

class Effort {
 public:
  // One unit is about one command examined, or 16 bytes copied or searched.
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

  void give_up() { is_over_ = true; }  // the rest is too large to examine

  size_t spent() const { return spent_; }
  bool is_over() const { return is_over_; }  // stop examining

 private:
  static constexpr size_t kBetweenLooks = 1000;  // checking the clock costs several units

  std::function<bool()> is_late_;
  size_t most_, spent_ = 0, next_look_ = kBetweenLooks;
  bool is_over_ = false;
};

}  // namespace ralph
