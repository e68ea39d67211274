// Random choices for property tests: a seed gives the same sequence on every platform.
#pragma once

#include <random>
#include <vector>

namespace ralph {

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  size_t below(size_t n) { return engine_() % n; }  // the library's distributions differ between platforms
  bool one_in(size_t n) { return below(n) == 0; }
  template <class T>
  const T& any(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace ralph
